package io.zrecord.rebalance;

/** Which record comes where: a permutation of the indices of a version, asked from both sides. Thread-safe. */
public interface Arrangement extends OldIndices {

  /** Number of records. */
  long length();

  /** Writes the new indices of the records that stand at {@code firstOldIndex} and behind it to the first {@code count} places. */
  void newIndices(long firstOldIndex, long[] target, int count);
}
