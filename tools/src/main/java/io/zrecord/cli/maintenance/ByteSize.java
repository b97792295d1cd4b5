package io.zrecord.cli.maintenance;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a number of bytes, such as {@code 1048576}, {@code 1m} or {@code 2g}. */
public final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern SIZE = Pattern.compile("([0-9]{1,15})([kmgKMG]?)");

  @Override
  public Long convert(String text) {
    Matcher matcher = SIZE.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "'" + text + "' is no number of bytes; give one such as 1048576, 64m or 1g");
    }
    int shift = switch (matcher.group(2)) {
      case "k", "K" -> 10;
      case "m", "M" -> 20;
      case "g", "G" -> 30;
      default -> 0;
    };
    long number = Long.parseLong(matcher.group(1));
    if (number > Long.MAX_VALUE >> shift) {
      throw new TypeConversionException("'" + text + "' is more than 2^63 bytes");
    }
    return number << shift;
  }
}
