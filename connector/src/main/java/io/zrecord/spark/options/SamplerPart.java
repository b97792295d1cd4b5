package io.zrecord.spark.options;

import io.zrecord.feed.SamplerParameter;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import java.io.Serializable;

/**
 * What a read takes of a sampler: the rest of one epoch, and of that all positions or those of one
 * rank. Immutable.
 *
 * @param epoch from 0
 * @param startPosition how many positions of the epoch were read before
 * @param rank of this read, from 0
 * @param worldSize number of ranks
 * @param remainder what ranks do with the last positions
 */
public record SamplerPart(
    long epoch, long startPosition, long rank, long worldSize, Remainder remainder)
    implements Serializable {

  /**
   * Takes the positions that are read, in the order of {@code all}.
   *
   * @throws IllegalArgumentException if an epoch has fewer positions than are left out
   */
  public Sampler of(Sampler all) {
    if (startPosition > all.length()) {
      throw new IllegalArgumentException("Option " + SamplerParameter.START_POSITION
          + " has the value " + startPosition + ", but an epoch of " + all + " has " + all.length()
          + " positions; use 0 to " + all.length());
    }
    return all.skip(startPosition).share(rank, worldSize, remainder);
  }

  @Override
  public String toString() {
    return "epoch " + epoch + (worldSize > 1 ? ", rank " + rank + " of " + worldSize : "");
  }
}
