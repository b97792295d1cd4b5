package io.zrecord.feed;

import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;

/**
 * Says which this process is of several that share the order of a sampler.
 *
 * @param rank from 0
 * @param worldSize number of processes
 * @param remainder what becomes of positions that cannot be shared evenly
 */
record Ranks(long rank, long worldSize, Remainder remainder) {
  static final Ranks ALONE = new Ranks(0, 1, Remainder.UNEVEN);

  @Override
  public String toString() {
    return "rank " + rank + " of " + worldSize + " " + remainder;
  }

  /** Returns this rank's share of what is left of an epoch after a position of the whole order. */
  Sampler share(Sampler order, long base) {
    Sampler left = base == 0 ? order : order.skip(base);
    return worldSize == 1 ? left : left.share(rank, worldSize, remainder);
  }

  /**
   * Returns how far the whole order is consumed when every rank has consumed {@code position} of
   * its share.
   */
  long globalPosition(Sampler order, long base, long position) {
    long left = order.length() - base;
    return position > left / worldSize ? order.length() : base + position * worldSize;
  }
}
