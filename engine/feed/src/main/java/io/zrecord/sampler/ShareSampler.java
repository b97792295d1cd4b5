package io.zrecord.sampler;

/**
 * Gives the share of one rank of an order that all ranks agree on. Immutable.
 *
 * <p>A resume needs the position in the global order, which does not depend on the number of ranks.
 * {@link #globalPosition} gives this position, and {@link #resumeAt} goes on from it with any
 * number of ranks.
 */
public final class ShareSampler extends Sampler {
  private final Sampler base;
  private final long rank;
  private final long worldSize;
  private final Remainder remainder;
  private final long length;

  ShareSampler(Sampler base, long rank, long worldSize, Remainder remainder) {
    this.base = base;
    this.worldSize = Checks.inRange(
        "worldSize", worldSize, 1, Integer.MAX_VALUE, "give the number of processes");
    this.rank = Checks.inRange("rank", rank, 0, worldSize - 1, "ranks count from 0");
    this.remainder = remainder;
    this.length = lengthOf(base.length());
  }

  private long lengthOf(long all) {
    if (all == ENDLESS) {
      return ENDLESS;
    }
    long whole = all / worldSize;
    return switch (remainder) {
      case DROP -> whole;
      case PAD -> whole + (all % worldSize == 0 ? 0 : 1);
      case UNEVEN -> whole + (rank < all % worldSize ? 1 : 0);
    };
  }

  /**
   * Returns the positions of this rank in an epoch; {@link #ENDLESS} if the global order is
   * endless.
   */
  @Override
  public long length() {
    return length;
  }

  @Override
  public long bound() {
    return base.bound();
  }

  /**
   * Returns how far the global order is consumed when every rank has consumed {@code position} of
   * its own, for {@link SamplerState}.
   *
   * @throws IllegalArgumentException if the position is not in {@code [0, length()]}
   */
  public long globalPosition(long position) {
    Checks.inRange("position", position, 0, length, "give a position of this share");
    return position > base.length() / worldSize ? base.length() : position * worldSize;
  }

  /**
   * Returns this rank's share of what is left of an epoch, whatever number of ranks consumed the
   * positions before. Position 0 of that share is {@code globalPosition + rank}. Use it for that
   * epoch only, and this sampler for later epochs: the returned share leaves out the consumed
   * positions in every epoch.
   *
   * @throws IllegalArgumentException if the position is not in {@code [0, length]} of the global
   *     order
   */
  public ShareSampler resumeAt(long globalPosition) {
    return base.skip(globalPosition).share(rank, worldSize, remainder);
  }

  @Override
  public long endOfPart(long epoch, long position) {
    long global = globalOf(position);
    if (global >= base.length()) {
      return position + 1;
    }
    long end = base.endOfPart(epoch, global);
    return Math.min(length, Math.max(position + 1, (end - rank + worldSize - 1) / worldSize));
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    long last = globalOf(position + (count - 1) * stride);
    int inside = last < base.length() ? count : count - 1;
    if (inside > 0) {
      long step = inside == 1 ? 1 : stride * worldSize;
      base.fill(epoch, globalOf(position), step, target, from, inside);
    }
    if (inside < count) {
      base.fill(epoch, last % base.length(), 1, target, from + inside, 1);
    }
  }

  private long globalOf(long position) {
    return Math.addExact(Math.multiplyExact(position, worldSize), rank);
  }

  @Override
  public String toString() {
    return base + ".share(" + rank + ", " + worldSize + ", " + remainder + ")";
  }
}
