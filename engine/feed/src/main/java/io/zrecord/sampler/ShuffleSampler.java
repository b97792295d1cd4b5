package io.zrecord.sampler;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;
import org.jspecify.annotations.Nullable;

/**
 * Gives every index once in an epoch, in an order that no other epoch and no other seed has, in
 * constant memory. Immutable.
 */
public final class ShuffleSampler extends Sampler {
  private final long length;
  private final long seed;
  /** Permutation that was used last: a new one for each batch would cost 200 bytes. */
  private volatile @Nullable OfEpoch last;

  private record OfEpoch(long epoch, Permutation permutation) {}

  ShuffleSampler(long length, long seed) {
    this.length = Checks.length("length", length);
    this.seed = seed;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long bound() {
    return length;
  }

  /**
   * Returns the position of an index in an epoch; costs as much as {@link #index}.
   *
   * @throws IndexOutOfBoundsException if the epoch is negative or the index is not in {@code [0,
   *     bound())}
   */
  public long positionOf(long epoch, long index) {
    if (epoch < 0 || index < 0 || index >= length) {
      throw new IndexOutOfBoundsException("Cannot find index " + index + " in epoch " + epoch
          + " of " + this + ": indices are in [0, " + length + "), epochs are >= 0");
    }
    return permutation(epoch).invert(index);
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    permutation(epoch).fill(position, stride, target, from, count);
  }

  private Permutation permutation(long epoch) {
    OfEpoch known = last;
    if (known == null || known.epoch() != epoch) {
      known = new OfEpoch(epoch, new Permutation(Mixing.key(Mixing.SHUFFLE, seed, epoch), length));
      last = known;
    }
    return known.permutation();
  }

  @Override
  public String toString() {
    return "shuffle(" + length + ", seed " + seed + ")";
  }
}
