package io.zrecord.benchmarks;

/**
 * Says how much a benchmark does: {@code -Dzrecord.benchmark.percent=…} of its full data, by
 * default 100. Below 10 percent a benchmark also repeats less. Figures count at 100 percent only; a
 * smaller run shows that a case works.
 */
final class Effort {
  private static final String PROPERTY = "zrecord.benchmark.percent";
  private static final double PERCENT = chosen();

  /** From this percentage on a benchmark repeats as often as it says. */
  private static final double PERCENT_OF_ALL_ROUNDS = 10;

  private Effort() {}

  /** Returns the percentage. */
  static double percent() {
    return PERCENT;
  }

  /** Returns the percentage of a number of records or bytes, at least 1. */
  static long of(long full) {
    return Math.max(1, Math.round(full * PERCENT / 100));
  }

  /** Returns the percentage of a number of records or bytes, at least 1. */
  static int of(int full) {
    return Math.toIntExact(of((long) full));
  }

  /** Returns how often to repeat what counts, at least once. */
  static int rounds(int full) {
    return Math.max(1, (int) Math.round(full * shareOfRounds()));
  }

  /** Returns how often to repeat what does not count, maybe never. */
  static int warmUps(int full) {
    return (int) (full * shareOfRounds());
  }

  private static double shareOfRounds() {
    return Math.min(1, PERCENT / PERCENT_OF_ALL_ROUNDS);
  }

  private static double chosen() {
    String text = System.getProperty(PROPERTY, "100");
    double percent = Double.parseDouble(text);
    if (!(percent > 0 && percent <= 1000)) {
      throw new IllegalArgumentException(
          PROPERTY + " is " + text + ": give more than 0, at most 1000");
    }
    return percent;
  }
}
