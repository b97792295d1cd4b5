package io.zrecord.spark;

import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.SlidingSampler;
import java.io.Serializable;

/**
 * What a read takes of a sampler: one epoch, or a part of it, and of that all positions or those of one rank. Immutable.
 *
 * @param epoch from 0
 * @param sampleCount positions of the epoch that all ranks read together; negative: all there are
 * @param startPosition of them, how many were read before
 * @param rank of this read, from 0
 * @param worldSize number of ranks
 * @param remainder what ranks do with the last positions
 */
record SamplerPart(
    long epoch,
    long sampleCount,
    long startPosition,
    long rank,
    long worldSize,
    Remainder remainder)
    implements Serializable {

  /**
   * The positions that are read, in the order of {@code all}.
   *
   * @throws IllegalArgumentException if there are not so many
   */
  Sampler of(Sampler all) {
    Sampler epochs =
        all instanceof SlidingSampler sliding && sampleCount < 0 ? sliding.onePass() : all;
    requireAtMost(ZRecordOptions.NUM_SAMPLES, sampleCount, epochs);
    Sampler taken = sampleCount < 0 ? epochs : epochs.take(sampleCount);
    requireAtMost(ZRecordOptions.START_POSITION, startPosition, taken);
    return taken.skip(startPosition).share(rank, worldSize, remainder);
  }

  private static void requireAtMost(String option, long value, Sampler order) {
    if (value > order.length()) {
      throw new IllegalArgumentException("Option " + option + " has the value " + value
          + ", but an epoch of " + order + " has " + order.length()
          + " positions; use 0 to " + order.length());
    }
  }

  @Override
  public String toString() {
    return "epoch " + epoch + (worldSize > 1 ? ", rank " + rank + " of " + worldSize : "");
  }
}
