package io.zrecord.rebalance.order;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;
import java.util.Objects;

/**
 * The order of a shuffle (SAMPLERS.md section 6), in constant memory. Immutable.
 *
 * @param length number of records
 * @param permutation gives the old index of a record from the new one
 */
record ShuffledArrangement(long length, Permutation permutation) implements Arrangement {

  /** Returns the order of epoch 0 of the shuffle with a seed. */
  static ShuffledArrangement of(long length, long seed) {
    long key = Mixing.key(Mixing.SHUFFLE, seed, 0);
    return new ShuffledArrangement(length, new Permutation(key, Math.max(1, length)));
  }

  @Override
  public void oldIndices(long firstNewIndex, long[] target, int count) {
    Objects.checkFromIndexSize(firstNewIndex, count, length);
    permutation.fill(firstNewIndex, 1, target, 0, count);
  }

  @Override
  public void newIndices(long firstOldIndex, long[] target, int count) {
    Objects.checkFromIndexSize(firstOldIndex, count, length);
    for (int i = 0; i < count; i++) {
      target[i] = permutation.invert(firstOldIndex + i);
    }
  }
}
