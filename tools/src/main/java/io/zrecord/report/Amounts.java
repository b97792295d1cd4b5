package io.zrecord.report;

import java.util.Locale;

/** Formats numbers for people. Stateless. */
final class Amounts {
  private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  private Amounts() {}

  /** Formats a count, as in {@code 1,234}. */
  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** Formats bytes, as in {@code 640 bytes} or {@code 1.5 MiB}. */
  static String bytes(long bytes) {
    if (bytes < 1024) {
      return bytes + (bytes == 1 ? " byte" : " bytes");
    }
    double amount = bytes;
    int unit = -1;
    // 1,023.96 would be printed as 1024.0.
    while (amount >= 1023.95) {
      amount /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", amount, UNITS[Math.max(unit, 0)]);
  }

  /** Formats a power of two, as in {@code 64 KiB}. Accepts 2⁶³, which is negative. */
  static String powerOfTwo(long bytes) {
    int exponent = Long.numberOfTrailingZeros(bytes);
    return exponent < 10 ? bytes(bytes) : (1 << exponent % 10) + " " + UNITS[exponent / 10 - 1];
  }

  /** Formats a share, as in {@code 97.3 %}. A part of nothing is 100 %. Never rounds up to 100. */
  static String percent(long part, long whole) {
    return whole == 0 ? "100 %" : percent((double) part / whole);
  }

  static String percent(double part) {
    double percent = Math.floor(part * 1000) / 10;
    return String.format(Locale.ROOT, percent == 100 ? "%.0f %%" : "%.1f %%", percent);
  }
}
