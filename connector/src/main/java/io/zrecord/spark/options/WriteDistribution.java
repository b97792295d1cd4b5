package io.zrecord.spark.options;

/** Where the rows of a write to a partitioned table meet. */
public enum WriteDistribution {
  /** Rows of one partition come to one task, or to few if they are many. */
  PARTITION,
  /** Each task writes the rows that its query gives, in their order. */
  NONE
}
