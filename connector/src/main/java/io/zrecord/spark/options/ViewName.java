package io.zrecord.spark.options;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The value of the option {@code view}: a data frame about a dataset instead of its records. */
public enum ViewName {
  /** A row for each chunk file. */
  CHUNKS,
  /** A row for each shard. */
  SHARDS,
  /** A row for each field of each shard. */
  FIELDS,
  /** A row for each version of a table. */
  VERSIONS,
  /** A row for each file that a version names. */
  FILES;

  /**
   * Returns the view of a name, ignoring case.
   *
   * @throws IllegalArgumentException if there is no such view
   */
  public static ViewName of(String name) {
    for (ViewName known : values()) {
      if (known.name().equalsIgnoreCase(name.strip())) {
        return known;
      }
    }
    throw new IllegalArgumentException("use one of "
        + Arrays.stream(values()).map(ViewName::toString).collect(Collectors.joining(", ")));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
