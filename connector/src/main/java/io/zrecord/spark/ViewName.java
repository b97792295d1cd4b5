package io.zrecord.spark;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.StructType;

/** What the option {@code view} asks for: a data frame about a dataset instead of its records. */
enum ViewName {
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
   * The view of a name, without regard to case.
   *
   * @throws IllegalArgumentException if there is none
   */
  static ViewName of(String name) {
    for (ViewName known : values()) {
      if (known.name().equalsIgnoreCase(name.strip())) {
        return known;
      }
    }
    throw new IllegalArgumentException("use one of "
        + Arrays.stream(values()).map(ViewName::toString).collect(Collectors.joining(", ")));
  }

  StructType schema() {
    return switch (this) {
      case CHUNKS -> ViewRows.CHUNKS.schema();
      case SHARDS -> ViewRows.SHARDS.schema();
      case FIELDS -> ViewRows.FIELDS.schema();
      case VERSIONS -> ViewRows.VERSIONS.schema();
      case FILES -> ViewRows.FILES.schema();
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
