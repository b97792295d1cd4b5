package io.zrecord.sampler;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;

/**
 * Gives every index once in an epoch, in an order between that of storage and a full shuffle.
 * Blocks are shuffled, and all indices inside each run of {@code mixed} blocks of that order are
 * shuffled. Immutable.
 */
final class BlockShuffleSampler extends Sampler {
  private final Blocks blocks;
  private final long mixed;
  private final long seed;

  BlockShuffleSampler(Blocks blocks, long mixed, long seed) {
    this.blocks = blocks;
    this.mixed = Checks.inRange(
        "mixed",
        mixed,
        0,
        Checks.MAX_LENGTH,
        "give 0 to keep the order inside blocks, or how many blocks are shuffled together");
    this.seed = seed;
  }

  @Override
  public long length() {
    return blocks.length();
  }

  @Override
  public long bound() {
    return blocks.length();
  }

  @Override
  public long endOfPart(long epoch, long position) {
    Blocks.Order order = blocks.order(Mixing.key(Mixing.BLOCKS, seed, epoch));
    long together = Math.min(Math.max(1, mixed), blocks.count());
    long group = order.rankAt(position) / together;
    return order.firstPlace(Math.min((group + 1) * together, blocks.count()));
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    Blocks.Order order = blocks.order(Mixing.key(Mixing.BLOCKS, seed, epoch));
    long key = Mixing.key(Mixing.INSIDE_BLOCKS, seed, epoch);
    long together = Math.min(Math.max(1, mixed), blocks.count());
    long next = position;
    for (int done = 0; done < count; ) {
      long group = order.rankAt(next) / together;
      long rank = group * together;
      long until = Math.min(rank + together, blocks.count());
      long first = order.firstPlace(rank);
      long length = order.firstPlace(until) - first;
      int run = Runs.within(first + length - next, stride, count - done);
      inside(Mixing.absorb(key, group), length, next - first, stride, target, from + done, run);
      boolean alone = until - rank == 1;
      shift(target, from + done, run, alone ? order.firstIndex(rank) : first);
      if (!alone) {
        order.locate(target, from + done, run);
      }
      done += run;
      next += run * stride;
    }
  }

  private void inside(
      long key, long length, long start, long stride, long[] target, int from, int count) {
    if (mixed > 0) {
      new Permutation(key, length).fill(start, stride, target, from, count);
    } else {
      for (int i = 0; i < count; i++) {
        target[from + i] = start + i * stride;
      }
    }
  }

  private static void shift(long[] values, int from, int count, long by) {
    for (int i = from; i < from + count; i++) {
      values[i] += by;
    }
  }

  @Override
  public String toString() {
    return "blockShuffle(" + blocks.length() + " indices in " + blocks.count() + " blocks, " + mixed
        + " mixed, seed " + seed + ")";
  }
}
