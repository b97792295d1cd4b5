package io.zrecord.sampler;

/**
 * Rounds that permute the numbers of some bits, and walk those that leave {@code [0, length)} back
 * into it. Immutable.
 */
sealed interface Network permits NarrowNetwork, WideNetwork {
  /**
   * Below this many values, one after the other is faster than a vector loop over
   * {@link Lanes#MIN}.
   */
  int FEW = 48;

  /** Takes one value through all rounds. */
  long forward(long value);

  /** Undoes {@link #forward}. */
  long backward(long value);

  /**
   * Writes where {@code first, first + stride, …} go in the end; {@link Lanes#MIN} to
   * {@link Lanes#CHUNK} values.
   */
  void fill(long first, long stride, long[] target, int from, int count);

  /**
   * Replaces values by where they go in the end; {@link Lanes#MIN} to {@link Lanes#CHUNK} of them.
   */
  void map(long[] values, int from, int count);
}
