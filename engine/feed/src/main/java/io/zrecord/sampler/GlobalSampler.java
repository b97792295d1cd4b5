package io.zrecord.sampler;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;

/**
 * Draws sets of indices from the whole space. The positions {@code [k·batchSize, (k +
 * 1)·batchSize)} are a draw without replacement, and draws are independent of each other. Endless.
 * Immutable.
 */
final class GlobalSampler extends Sampler {
  private final long bound;
  private final long drawn;
  private final long seed;

  GlobalSampler(long length, long batchSize, long seed) {
    this.bound = Checks.length("length", length);
    this.drawn = Checks.inRange(
        "batchSize",
        batchSize,
        1,
        Math.max(1, length),
        "a set without repeats has at most all records");
    this.seed = seed;
  }

  @Override
  public long length() {
    return bound == 0 ? 0 : ENDLESS;
  }

  @Override
  public long bound() {
    return bound;
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    long key = Mixing.key(Mixing.GLOBAL, seed, epoch);
    long next = position;
    for (int done = 0; done < count; ) {
      long inside = next % drawn;
      int run = Runs.within(drawn - inside, stride, count - done);
      new Permutation(Mixing.absorb(key, next / drawn), bound)
          .fill(inside, stride, target, from + done, run);
      done += run;
      next += run * stride;
    }
  }

  @Override
  public String toString() {
    return "global(" + bound + ", " + drawn + " at a time, seed " + seed + ")";
  }
}
