package io.zrecord.sampler;

import java.util.Objects;

/**
 * An order of records: which index stands at which position of an epoch. A pure function of (seed,
 * epoch, position): nothing is remembered between calls, so any position is reached at once and
 * every thread, rank and process sees the same order.
 *
 * <p>Positions are in {@code [0, length())}, indices in {@code [0, bound())}, epochs are 0 and
 * above. Subclasses are immutable and thread-safe, and implement {@link #fill}. Ask for 128 indices
 * or more in a call: draws and shuffles cost 1 to 9 ns each then, and ten times that one by one.
 */
public abstract class Sampler {
  /** The length of an epoch that does not end. */
  public static final long ENDLESS = Long.MAX_VALUE;

  /** Number of positions in an epoch, or {@link #ENDLESS}. */
  public abstract long length();

  /** Every index is below this. */
  public abstract long bound();

  /**
   * Writes the indices at {@code position + i·stride} to {@code target[from + i]}, for {@code i} in
   * {@code [0, count)}. The arguments were checked: positions are in {@code [0, length())},
   * {@code stride >= 1}, {@code count >= 1}, and the target has room.
   */
  protected abstract void fill(
      long epoch, long position, long stride, long[] target, int from, int count);

  /**
   * The index at a position.
   *
   * @throws IndexOutOfBoundsException if the epoch is negative or the position is not in {@code [0,
   *     length())}
   */
  public final long index(long epoch, long position) {
    long[] one = new long[1];
    indices(epoch, position, 1, one, 0, 1);
    return one[0];
  }

  /**
   * Writes the indices at {@code position}, {@code position + 1}, … to {@code target[from]} and the
   * {@code count - 1} after it.
   *
   * @throws IndexOutOfBoundsException if the epoch is negative, a position is not in {@code [0,
   *     length())}, or the target has no room
   */
  public final void indices(long epoch, long position, long[] target, int from, int count) {
    indices(epoch, position, 1, target, from, count);
  }

  /**
   * The same for every {@code stride}-th position.
   *
   * @throws IllegalArgumentException if the stride is below 1
   */
  public final void indices(
      long epoch, long position, long stride, long[] target, int from, int count) {
    Objects.checkFromIndexSize(from, count, target.length);
    Checks.inRange("stride", stride, 1, Long.MAX_VALUE, "give the distance between two positions");
    long room = length() - position;
    if (epoch < 0
        || position < 0
        || room < 0
        || (count > 0 && (room == 0 || (room - 1) / stride < count - 1))) {
      throw new IndexOutOfBoundsException(
          "Cannot give " + count + " indices from position " + position
              + " by " + stride + " in epoch " + epoch + " of " + this + ": positions are in [0, "
              + length()
              + "), epochs are >= 0; ask for fewer, or go on in the next epoch");
    }
    if (count > 0) {
      fill(epoch, position, count == 1 ? 1 : stride, target, from, count);
    }
  }

  /**
   * This order without its first positions, in every epoch.
   *
   * @throws IllegalArgumentException if {@code count} is not in {@code [0, length()]}
   */
  public final Sampler skip(long count) {
    Checks.inRange("count to skip", count, 0, length(), "skip at most an epoch");
    long left = length() == ENDLESS ? ENDLESS : length() - count;
    return new SliceSampler(this, count, left);
  }

  /**
   * The first positions of this order, in every epoch.
   *
   * @throws IllegalArgumentException if {@code count} is not in {@code [0, length()]}
   */
  public final Sampler take(long count) {
    Checks.inRange("count to take", count, 0, length(), "take at most an epoch, or repeat() first");
    return new SliceSampler(this, 0, count);
  }

  /**
   * Several epochs as one: pass {@code p} of epoch {@code e} is epoch {@code e·times + p} of this
   * order.
   *
   * @throws IllegalArgumentException if {@code times} is below 1, or the length became more than
   *     2⁶²
   */
  public final Sampler repeat(long times) {
    return RepeatSampler.finite(this, times);
  }

  /**
   * All epochs as one that does not end: pass {@code p < 2³²} of epoch {@code e < 2³¹} is epoch
   * {@code e·2³² + p} of this order.
   */
  public final Sampler repeat() {
    return RepeatSampler.endless(this);
  }

  /** The order of one epoch in all epochs, as validation wants it. */
  public final Sampler withEpoch(long epoch) {
    return new FixedEpochSampler(this, epoch);
  }

  /**
   * The share of one of several processes: positions {@code rank}, {@code rank + worldSize}, … of
   * this order. The shares of all ranks are disjoint, but for what {@link Remainder#PAD} repeats.
   *
   * @throws IllegalArgumentException if {@code worldSize} is below 1 or {@code rank} is not in
   *     {@code [0, worldSize)}
   */
  public final ShareSampler share(long rank, long worldSize, Remainder remainder) {
    return new ShareSampler(this, rank, worldSize, remainder);
  }
}
