package io.zrecord.sampler;

import io.zrecord.internal.random.Bounded;
import io.zrecord.internal.random.Lanes;
import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Words;

/**
 * Draws with replacement, each draw by its position and without modulo bias. Endless. Immutable.
 */
final class RandomSampler extends Sampler {
  private final long bound;
  private final long seed;
  private final Bounded bounded;

  RandomSampler(long length, long seed) {
    this.bound = Checks.length("length", length);
    this.seed = seed;
    this.bounded = new Bounded(Math.max(1, length));
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
    Words words = Words.of(Mixing.key(Mixing.RANDOM, seed, epoch), position);
    for (int done = 0; done < count; ) {
      int chunk = Lanes.next(count - done);
      long first = position + done * stride;
      words = words.near(first);
      bounded.draw(words, first, stride, target, from + done, chunk);
      done += chunk;
    }
  }

  @Override
  public String toString() {
    return "random(" + bound + ", seed " + seed + ")";
  }
}
