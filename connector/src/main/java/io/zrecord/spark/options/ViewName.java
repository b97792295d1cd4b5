package io.zrecord.spark.options;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The name of a metadata table: the last part of a name in SQL, or the value of the option
 * {@code view}.
 */
public enum ViewName {
  /** A row for each chunk file. */
  CHUNKS,
  /** A row for each shard. */
  SHARDS,
  /** A row for each field. */
  FIELDS,
  /** A row for each version of a table. */
  VERSIONS,
  /** A row for each file that a version names. */
  FILES,
  /** A row for each tag of a table. */
  TAGS,
  /** A row for each partition. */
  PARTITIONS,
  /** A row for each shard, with how well its files are used. */
  SHARD_USAGE,
  /** A row for each field of each shard, with how well its files are used. */
  FIELD_USAGE;

  /** Returns the metadata table of a name, ignoring case; empty if there is none. */
  public static Optional<ViewName> find(String name) {
    return Arrays.stream(values())
        .filter(known -> known.name().equalsIgnoreCase(name.strip()))
        .findFirst();
  }

  /**
   * Returns the metadata table of a name, ignoring case.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static ViewName of(String name) {
    return find(name)
        .orElseThrow(() -> new IllegalArgumentException("use one of "
            + Arrays.stream(values()).map(ViewName::toString).collect(Collectors.joining(", "))));
  }

  /** Tells whether the rows are about one version, rather than about the whole history. */
  public boolean isOfOneVersion() {
    return this != VERSIONS && this != TAGS;
  }

  /** Tells whether a store that is written online has the table. */
  public boolean isOfStores() {
    return isOfOneVersion() && this != FILES;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
