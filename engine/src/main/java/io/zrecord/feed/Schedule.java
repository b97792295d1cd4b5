package io.zrecord.feed;

import io.zrecord.sampler.Sampler;
import org.jspecify.annotations.Nullable;

/** Which records each batch has: positions of the sampler, one batch after the other, epoch by epoch. Guarded by its lock. */
final class Schedule {
  private final Sampler sampler;
  private final int batchSize;
  private final boolean keepsRemainder;
  private final long endEpoch;
  private long number;
  private long epoch;
  private long position;
  private boolean isStopped;

  Schedule(
      Sampler sampler,
      int batchSize,
      boolean keepsRemainder,
      long epoch,
      long position,
      long endEpoch) {
    this.sampler = sampler;
    this.batchSize = batchSize;
    this.keepsRemainder = keepsRemainder;
    this.epoch = epoch;
    this.position = position;
    this.endEpoch = endEpoch;
  }

  /** Batches of an epoch from its beginning. */
  static long batchesPerEpoch(Sampler sampler, int batchSize, boolean keepsRemainder) {
    if (sampler.length() == Sampler.ENDLESS) {
      return Sampler.ENDLESS;
    }
    long whole = sampler.length() / batchSize;
    return keepsRemainder && sampler.length() % batchSize > 0 ? whole + 1 : whole;
  }

  /** The next batch; null if there is none any more. */
  synchronized Slot.@Nullable Place next() {
    while (!isStopped && epoch < endEpoch) {
      long left = sampler.length() - position;
      int count = (int) Math.min(batchSize, left);
      if (count == batchSize || (count > 0 && keepsRemainder)) {
        Slot.Place place = new Slot.Place(number++, epoch, position, count);
        position += count;
        return place;
      }
      if (batchesPerEpoch(sampler, batchSize, keepsRemainder) == 0) {
        return null;
      }
      epoch++;
      position = 0;
    }
    return null;
  }

  /** Lets no further batch begin. */
  synchronized void stop() {
    isStopped = true;
  }
}
