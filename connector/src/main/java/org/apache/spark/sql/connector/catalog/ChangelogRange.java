package org.apache.spark.sql.connector.catalog;

import java.util.Optional;

/**
 * The versions or times of changes, from Spark 4.2 on. Declared here for the compiler: the jar does
 * not contain this copy, and before 4.2 nothing refers to it.
 */
public interface ChangelogRange {
  boolean startingBoundInclusive();

  boolean endingBoundInclusive();

  /** A range of versions. */
  abstract class VersionRange implements ChangelogRange {
    private VersionRange() {}

    public abstract String startingVersion();

    public abstract Optional<String> endingVersion();
  }

  /** A range of times, in microseconds since 1970. */
  abstract class TimestampRange implements ChangelogRange {
    private TimestampRange() {}

    public abstract long startingTimestamp();

    public abstract Optional<Long> endingTimestamp();
  }
}
