package io.zrecord.examples;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Times the steps of a program, prints the current step, and prints a table at the end. Belongs to
 * one thread.
 */
final class Steps {
  private static final double NANOS = 1e9;
  private static final double MIB = 1 << 20;

  private final PrintStream out = System.out;
  private final long start = System.nanoTime();
  private final Map<String, Map<String, Double>> rows = new LinkedHashMap<>();
  private boolean allAgree = true;

  /** Runs a step of a contestant and records its time in seconds. */
  <T> T time(String step, String contestant, Supplier<T> work) {
    out.printf(
        Locale.ROOT,
        "[%6.1f s] %-16s %-8s …%n",
        (System.nanoTime() - start) / NANOS,
        step,
        contestant);
    long begin = System.nanoTime();
    T result = work.get();
    note(step + " (s)", contestant, (System.nanoTime() - begin) / NANOS);
    return result;
  }

  /** Records a size. */
  void size(String step, String contestant, long bytes) {
    note(step + " (MiB)", contestant, bytes / MIB);
  }

  /** Compares results that must be equal. */
  void agree(String what, Object expected, Object found) {
    boolean agrees = expected.equals(found);
    allAgree &= agrees;
    say((agrees ? "equal: " : "DIFFERENT: ") + what);
  }

  void say(String text) {
    out.println("           " + text);
  }

  boolean allAgree() {
    return allAgree;
  }

  void print() {
    out.printf(
        "%n%-20s %10s %10s %10s %16s %14s%n",
        "step", "files", "zrecord", "parquet", "parquet/zrecord", "zrecord+zstd");
    rows.forEach((step, values) -> out.printf(
        "%-20s %10s %10s %10s %16s %14s%n",
        step,
        text(values.get("files")),
        text(values.get("zrecord")),
        text(values.get("parquet")),
        ratio(values),
        text(values.get("zstd"))));
    out.println(
        allAgree ? "Everything that was compared is equal." : "SOMETHING DIFFERS, see above.");
  }

  private void note(String step, String contestant, double value) {
    rows.computeIfAbsent(step, key -> new TreeMap<>()).put(contestant, value);
  }

  private static String text(@org.jspecify.annotations.Nullable Double value) {
    return value == null ? "" : String.format(Locale.ROOT, "%.2f", value);
  }

  private static String ratio(Map<String, Double> values) {
    Double zrecord = values.get("zrecord");
    Double parquet = values.get("parquet");
    return zrecord == null || parquet == null
        ? ""
        : String.format(Locale.ROOT, "%.2f", parquet / zrecord);
  }
}
