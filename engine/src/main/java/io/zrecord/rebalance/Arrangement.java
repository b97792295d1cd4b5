package io.zrecord.rebalance;

/** Which record comes where: a permutation of the indices of a version, asked from both sides. Thread-safe. */
public interface Arrangement {

  /** Number of records. */
  long length();

  /** Writes the old indices of the records that come at {@code firstNewIndex} and behind it to the first {@code count} places. */
  void oldIndices(long firstNewIndex, long[] target, int count);

  /** Writes the new indices of the records that stand at {@code firstOldIndex} and behind it to the first {@code count} places. */
  void newIndices(long firstOldIndex, long[] target, int count);
}
