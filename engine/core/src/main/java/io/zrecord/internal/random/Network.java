package io.zrecord.internal.random;

/**
 * Permutes the numbers of some bits in rounds, and walks numbers that leave {@code [0, length)}
 * back into it. Immutable.
 */
sealed interface Network permits NarrowNetwork, WideNetwork {
  /**
   * Fewer values than this are faster one after the other than in a vector loop over
   * {@link Lanes#MIN}.
   */
  int FEW = 48;

  /** Takes one value through all rounds. */
  long forward(long value);

  /** Undoes {@link #forward}. */
  long backward(long value);

  /**
   * Writes where {@code first, first + stride, …} go in the end.
   *
   * @param count {@link Lanes#MIN} to {@link Lanes#CHUNK}
   */
  void fill(long first, long stride, long[] target, int from, int count);

  /**
   * Replaces values by where they go in the end.
   *
   * @param count {@link Lanes#MIN} to {@link Lanes#CHUNK}
   */
  void map(long[] values, int from, int count);
}
