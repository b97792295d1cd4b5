package io.zrecord.benchmarks;

import java.util.Locale;
import java.util.Map;

/** Prints what was measured beside the figure that is asked for. */
final class Figure {
  private Figure() {}

  /** Prints a figure that is to be small. */
  static void atMost(String what, double measured, double asked) {
    print(what, measured, "≤", asked, measured <= asked);
  }

  /** Prints a figure that is to be large. */
  static void atLeast(String what, double measured, double asked) {
    print(what, measured, "≥", asked, measured >= asked);
  }

  private static void print(
      String what, double measured, String relation, double asked, boolean holds) {
    System.out.printf(
        Locale.ROOT,
        "%s: %.4g (asked: %s %s)%s%n",
        what,
        measured,
        relation,
        asked,
        holds ? "" : " MISSED");
  }

  /**
   * Returns how many times as long as the first contestant of zrecord the best contestant takes
   * whose name begins with a prefix.
   */
  static double ratio(Map<String, Double> medians, String prefix) {
    double best = medians.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(prefix))
        .mapToDouble(Map.Entry::getValue)
        .min()
        .orElseThrow();
    return best / Contest.reference(medians);
  }
}
