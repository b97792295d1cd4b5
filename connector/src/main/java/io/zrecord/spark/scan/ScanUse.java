package io.zrecord.spark.scan;

/** What the rows of a scan are for. */
enum ScanUse {
  /** A query, whose joins may narrow the scan down while the query runs. */
  QUERY,
  /** A part of a recursive query, which runs once for each level. No join narrows it down. */
  LOOP,
  /**
   * A statement that changes records. No join narrows the scan down: Spark 4.2 would run the
   * condition of an {@code UPDATE} as a query of its own before.
   */
  CHANGES,
  /** Such a statement, of which one task reads and changes all records of a shard. */
  CHANGES_BY_SHARD
}
