package io.zrecord.rebalance.order;

/** A permutation of the indices of a version, readable in both directions. Thread-safe. */
public interface Arrangement extends OldIndices {

  /** Returns the number of records. */
  long length();

  /**
   * Writes the new indices of the {@code count} records from {@code firstOldIndex} on to the start
   * of {@code target}.
   */
  void newIndices(long firstOldIndex, long[] target, int count);
}
