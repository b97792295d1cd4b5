package io.zrecord.spark.rows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What a statement says of itself in the plan and in its version. Lives on the driver.
 *
 * @param description what the statement does
 * @param read returns the names of the columns that its scans read
 * @param partly names of columns that some clauses of a {@code MERGE} assign, and others do not
 * @param fallbacks why the statement reads or writes more than it would otherwise, in sentences
 *     without an end; none if it does not
 * @param shuffle why rows are shuffled; empty if they are not
 */
record StatementReport(
    String description,
    Supplier<Set<String>> read,
    Set<String> partly,
    List<String> fallbacks,
    String shuffle) {
  private static final String FALLBACKS = "fallbacks";

  /** Longest text of a property. A table may have thousands of columns. */
  private static final int MAX_TEXT = 1000;

  StatementReport {
    partly = Set.copyOf(partly);
    fallbacks = List.copyOf(fallbacks);
  }

  /** Returns a report of what has nothing to say. */
  static StatementReport of(String description) {
    return new StatementReport(description, Set::of, Set.of(), List.of(), "");
  }

  /** Adds that records that are written whole are not sorted, if that is so. */
  StatementReport sortedAs(boolean areRecordsUnsorted) {
    if (!areRecordsUnsorted) {
      return this;
    }
    List<String> all = new ArrayList<>(fallbacks);
    all.add("records that are new or move are not sorted by the order of the writes of the table");
    return new StatementReport(description, read, partly, all, shuffle);
  }

  /** Returns what a plan shows. */
  String shown() {
    return description + ", Fallbacks: " + fallbacks
        + (shuffle.isEmpty() ? "" : ", Shuffle: " + shuffle);
  }

  /**
   * Returns the properties of the version.
   *
   * @param columns names of the columns of the table, in their order
   * @param written names of those of which updated records got values
   */
  Map<String, String> properties(List<String> columns, Set<String> written) {
    Map<String, String> properties = new TreeMap<>();
    put(properties, "columnsRead", columns, read.get());
    put(properties, "columnsWritten", columns, written);
    if (!fallbacks.isEmpty()) {
      properties.put(FALLBACKS, shortened(String.join("; ", fallbacks)));
    }
    return properties;
  }

  private static void put(
      Map<String, String> properties, String key, List<String> columns, Set<String> chosen) {
    String names = columns.stream().filter(chosen::contains).collect(Collectors.joining(", "));
    if (!names.isEmpty()) {
      properties.put(key, shortened(names));
    }
  }

  private static String shortened(String text) {
    if (text.length() <= MAX_TEXT) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT;
    return text.substring(0, end) + "…";
  }
}
