package io.zrecord.rebalance.order;

/** The direction in which values rise along the indices. */
public enum Direction {
  /** The least value first. */
  ASCENDING,
  /** The greatest value first. */
  DESCENDING
}
