package io.zrecord.spark.options;

/** Where the rows of a write meet. */
public enum WriteDistribution {
  /** Rows of one partition come to one task, or to few if they are many. */
  PARTITION,
  /** Each task has a range of the partitions and of the order of the write. */
  RANGE,
  /** Each task writes the rows that its query gives. */
  NONE
}
