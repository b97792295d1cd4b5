package io.zrecord.storage;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads numbers of bytes that people write, such as {@code 1048576}, {@code 64m} or {@code 1G}. */
public final class ByteSize {
  private static final Pattern SIZE = Pattern.compile("([0-9]+)([kmgtKMGT]?)");
  private static final String UNITS = "kmgt";

  private ByteSize() {}

  /**
   * Reads a number of bytes.
   *
   * @param text digits, and a unit or none: k, m, g or t for 2¹⁰, 2²⁰, 2³⁰ or 2⁴⁰ bytes
   * @throws IllegalArgumentException if the text is something else, or 2⁶³ bytes or more
   */
  public static long parse(String text) {
    Matcher size = SIZE.matcher(text);
    if (!size.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no number of bytes; give one such as 1048576, 64m or 200g");
    }
    String unit = size.group(2).toLowerCase(Locale.ROOT);
    int shift = unit.isEmpty() ? 0 : 10 * (UNITS.indexOf(unit) + 1);
    try {
      return Math.multiplyExact(Long.parseLong(size.group(1)), 1L << shift);
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is 2^63 bytes or more; give less, such as 200g", e);
    }
  }
}
