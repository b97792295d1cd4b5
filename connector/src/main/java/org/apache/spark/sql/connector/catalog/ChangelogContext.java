package org.apache.spark.sql.connector.catalog;

/**
 * What a statement wants of the changes of a table, from Spark 4.2 on. Declared here for the
 * compiler: the jar does not contain this copy, and before 4.2 nothing refers to it.
 */
public abstract class ChangelogContext {
  private ChangelogContext() {}

  /** How rows of one record are put together. */
  public enum DeduplicationMode {
    NONE,
    DROP_CARRYOVERS,
    NET_CHANGES
  }

  public abstract ChangelogRange range();

  public abstract DeduplicationMode deduplicationMode();
}
