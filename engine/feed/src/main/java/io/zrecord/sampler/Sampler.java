package io.zrecord.sampler;

import java.util.Objects;

/**
 * Orders records: says which index is at which position of an epoch. A sampler is a pure function
 * of (seed, epoch, position) and remembers nothing between calls. So any position is reached at
 * once, and every thread, rank and process sees the same order.
 *
 * <p>Positions are in {@code [0, length())}, indices in {@code [0, bound())}, epochs are 0 and
 * above. Subclasses are immutable and thread-safe, and implement {@link #fill}. Ask for 128 indices
 * or more in a call: draws and shuffles then cost 1 to 9 ns each, and ten times as much one by one.
 */
public abstract class Sampler {
  /** Length of an epoch that does not end. */
  public static final long ENDLESS = Long.MAX_VALUE;

  /** Returns the number of positions in an epoch, or {@link #ENDLESS}. */
  public abstract long length();

  /** Returns a number that is above every index. */
  public abstract long bound();

  /**
   * Writes the indices at {@code position + i·stride} to {@code target[from + i]}, for {@code i} in
   * {@code [0, count)}. The caller has checked the arguments: positions are in {@code [0,
   * length())}, {@code stride >= 1}, {@code count >= 1}, and the target has room.
   */
  protected abstract void fill(
      long epoch, long position, long stride, long[] target, int from, int count);

  /**
   * Returns the position after a part of an epoch. Within a part, positions far from each other
   * have indices near each other, so that whoever reads a part as a whole reads each place once.
   *
   * @param position in {@code [0, length())}
   * @return {@code position + 1} if the order has no such parts
   */
  public long endOfPart(long epoch, long position) {
    return position + 1;
  }

  /**
   * Returns the index at a position.
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
   * {@code count - 1} places after it.
   *
   * @throws IndexOutOfBoundsException if the epoch is negative, a position is not in {@code [0,
   *     length())}, or the target has no room
   */
  public final void indices(long epoch, long position, long[] target, int from, int count) {
    indices(epoch, position, 1, target, from, count);
  }

  /**
   * Writes the indices at {@code position}, {@code position + stride}, … to {@code target[from]}
   * and the {@code count - 1} places after it.
   *
   * @throws IllegalArgumentException if the stride is below 1
   * @throws IndexOutOfBoundsException if the epoch is negative, a position is not in {@code [0,
   *     length())}, or the target has no room
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
   * Returns this order without its first positions, in every epoch.
   *
   * @throws IllegalArgumentException if {@code count} is not in {@code [0, length()]}
   */
  public final Sampler skip(long count) {
    Checks.inRange("count to skip", count, 0, length(), "skip at most an epoch");
    long left = length() == ENDLESS ? ENDLESS : length() - count;
    return new SliceSampler(this, count, left);
  }

  /**
   * Returns the first positions of this order, in every epoch.
   *
   * @throws IllegalArgumentException if {@code count} is not in {@code [0, length()]}
   */
  public final Sampler take(long count) {
    Checks.inRange("count to take", count, 0, length(), "take at most an epoch, or repeat() first");
    return new SliceSampler(this, 0, count);
  }

  /**
   * Joins several epochs into one: pass {@code p} of epoch {@code e} is epoch {@code e·times + p}
   * of this order.
   *
   * @throws IllegalArgumentException if {@code times} is below 1, or the length became more than
   *     2⁶²
   */
  public final Sampler repeat(long times) {
    return RepeatSampler.finite(this, times);
  }

  /**
   * Joins all epochs into one that does not end: pass {@code p < 2³²} of epoch {@code e < 2³¹} is
   * epoch {@code e·2³² + p} of this order.
   */
  public final Sampler repeat() {
    return RepeatSampler.endless(this);
  }

  /**
   * Returns the order of one epoch for all epochs, such as for a validation.
   *
   * @throws IllegalArgumentException if the epoch is negative
   */
  public final Sampler withEpoch(long epoch) {
    return new FixedEpochSampler(this, epoch);
  }

  /**
   * Returns the share of one of several processes: positions {@code rank}, {@code rank +
   * worldSize}, … of this order. The shares of all ranks are disjoint, except for what
   * {@link Remainder#PAD} repeats.
   *
   * @throws IllegalArgumentException if {@code worldSize} is below 1 or {@code rank} is not in
   *     {@code [0, worldSize)}
   */
  public final ShareSampler share(long rank, long worldSize, Remainder remainder) {
    return new ShareSampler(this, rank, worldSize, remainder);
  }
}
