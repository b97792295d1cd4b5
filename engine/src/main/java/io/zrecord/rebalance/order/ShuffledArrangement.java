package io.zrecord.rebalance.order;

import io.zrecord.sampler.ShuffleSampler;

/**
 * The order of a shuffle (SAMPLERS.md section 6), in constant memory. Immutable.
 *
 * @param sampler the sampler whose epoch 0 is the order
 */
record ShuffledArrangement(ShuffleSampler sampler) implements Arrangement {
  @Override
  public long length() {
    return sampler.length();
  }

  @Override
  public void oldIndices(long firstNewIndex, long[] target, int count) {
    sampler.indices(0, firstNewIndex, target, 0, count);
  }

  @Override
  public void newIndices(long firstOldIndex, long[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = sampler.positionOf(0, firstOldIndex + i);
    }
  }
}
