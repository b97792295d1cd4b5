package io.zrecord.testing;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;

/** The order that {@code Samplers.shuffle} gives, of which the engine's core knows no sampler. */
public final class ShuffledOrder {
  private ShuffledOrder() {}

  /** Returns the index at each position of epoch 0. */
  public static long[] of(int length, long seed) {
    long[] indices = new long[length];
    new Permutation(Mixing.key(Mixing.SHUFFLE, seed, 0), length).fill(0, 1, indices, 0, length);
    return indices;
  }
}
