package io.zrecord.report;

import java.util.Locale;

/** Numbers for people. Stateless. */
final class Amounts {
  private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  private Amounts() {}

  /** {@code 1,234}. */
  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** {@code 640 bytes}, {@code 1.5 MiB}. */
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

  /** {@code 64 KiB}; 2⁶³, which is negative, as well. */
  static String powerOfTwo(long bytes) {
    int exponent = Long.numberOfTrailingZeros(bytes);
    return exponent < 10 ? bytes(bytes) : (1 << exponent % 10) + " " + UNITS[exponent / 10 - 1];
  }

  /** {@code 97.3 %}; a part of nothing is all of it. Never rounded up to 100. */
  static String percent(long part, long whole) {
    return whole == 0 ? "100 %" : percent((double) part / whole);
  }

  static String percent(double part) {
    double percent = Math.floor(part * 1000) / 10;
    return String.format(Locale.ROOT, percent == 100 ? "%.0f %%" : "%.1f %%", percent);
  }
}
