package io.zrecord.rebalance;

/** Which way values rise along the indices. */
public enum Direction {
  /** The least value first. */
  ASCENDING,
  /** The greatest value first. */
  DESCENDING
}
