package io.zrecord.cli.maintenance;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a time span, such as {@code 90m}, {@code 72h} or {@code 7d}. */
public final class AgeConverter implements ITypeConverter<Duration> {
  private static final Pattern AGE = Pattern.compile("(\\d{1,6})([mhd])");

  @Override
  public Duration convert(String text) {
    Matcher matcher = AGE.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + text
          + "' is no time span; use a number of minutes, hours or days such as 90m, 72h or 7d");
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      default -> Duration.ofDays(number);
    };
  }
}
