package io.zrecord.spark.options;

import io.zrecord.feed.spec.SamplerParameter;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import java.io.Serializable;

/**
 * The part of a sampler that a read takes: the rest of one epoch, and of this rest either all
 * positions or those of one rank. Immutable.
 *
 * @param epoch epoch, from 0
 * @param startPosition number of positions of the epoch that were read before
 * @param rank rank of this read, from 0
 * @param worldSize number of ranks
 * @param remainder treatment of the last positions, which cannot be divided evenly among the ranks
 */
public record SamplerPart(
    long epoch, long startPosition, long rank, long worldSize, Remainder remainder)
    implements Serializable {

  /**
   * Takes the positions to read, in the order of {@code all}.
   *
   * @throws IllegalArgumentException if an epoch has fewer positions than {@code startPosition}
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
