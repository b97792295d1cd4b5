package io.zrecord.benchmarks;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Runs contestants that answer the same question in turns, first some rounds to warm up, then the
 * rounds that count, of both as many as {@link Effort} says. Prints medians.
 */
final class Contest {
  private final String title;
  private final int warmUps;
  private final int repeats;
  private final Map<String, Contestant> contestants = new LinkedHashMap<>();

  private record Contestant(Runnable preparation, Runnable work) {}

  /**
   * Creates a contest with two rounds to warm up and five that count. The others are compared with
   * the first contestant whose name begins with "zrecord".
   */
  Contest(String title) {
    this(title, 2, 5);
  }

  Contest(String title, int warmUps, int repeats) {
    this.title = title;
    this.warmUps = Effort.warmUps(warmUps);
    this.repeats = Effort.rounds(repeats);
  }

  void add(String name, Runnable work) {
    add(name, () -> {}, work);
  }

  /** Adds a contestant. The preparation runs before every round and is not timed. */
  void add(String name, Runnable preparation, Runnable work) {
    contestants.put(name, new Contestant(preparation, work));
  }

  /** Prints the seconds of each contestant and the ratio to zrecord. Returns the seconds. */
  Map<String, Double> run() {
    Map<String, Double> medians = medians();
    double reference = reference(medians);
    System.out.printf("%n| %s | median (s) | x zrecord |%n|---|---|---|%n", title);
    medians.forEach((name, seconds) -> System.out.printf(
        Locale.ROOT, "| %s | %.3f | %.2f |%n", name, seconds, seconds / reference));
    return medians;
  }

  /** Returns the seconds of the first contestant whose name begins with "zrecord". */
  static double reference(Map<String, Double> medians) {
    return medians.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith("zrecord"))
        .findFirst()
        .orElseThrow()
        .getValue();
  }

  /** Returns the seconds of each contestant, in the order in which they were added. */
  Map<String, Double> medians() {
    Map<String, double[]> seconds = new LinkedHashMap<>();
    for (int round = -warmUps; round < repeats; round++) {
      for (Map.Entry<String, Contestant> contestant : contestants.entrySet()) {
        contestant.getValue().preparation().run();
        long start = System.nanoTime();
        contestant.getValue().work().run();
        double elapsed = (System.nanoTime() - start) / 1e9;
        if (round >= 0) {
          seconds.computeIfAbsent(contestant.getKey(), name -> new double[repeats])[round] =
              elapsed;
        }
      }
    }
    Map<String, Double> medians = new LinkedHashMap<>();
    seconds.forEach((name, values) -> medians.put(name, median(values)));
    return medians;
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
