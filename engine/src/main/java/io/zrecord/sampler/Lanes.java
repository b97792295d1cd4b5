package io.zrecord.sampler;

/**
 * The loops that make many values at once. Each body is short, works in place and has no branch and no call, because HotSpot 17 makes
 * vector instructions only of loops of about ten operations on one array, and only if they usually run for many values (six rounds of
 * the permutation take 4.7 ns a value in one loop, 1.3 ns in three). So longer work is several passes over a chunk that stays in the
 * first-level cache, and fewer than {@link #MIN} values never come here.
 */
final class Lanes {
  /** Most values of one pass: 8 KiB. */
  static final int CHUNK = 1024;

  /** Fewest values of one pass; below it, one after the other is faster. */
  static final int MIN = 128;

  private static final long LOWER_32 = (1L << 32) - 1;
  private static final long LOWER_40 = (1L << 40) - 1;
  private static final long[] IOTA = new long[CHUNK];
  private static final long[] WEYL = new long[CHUNK];

  static {
    for (int i = 0; i < CHUNK; i++) {
      IOTA[i] = i;
      WEYL[i] = i * Mixing.GAMMA;
    }
  }

  private Lanes() {}

  /** How much of {@code left} to do next: at most a chunk, and no rest below {@link #MIN}, unless all is. */
  static int next(int left) {
    return left <= CHUNK || left >= CHUNK + MIN ? Math.min(left, CHUNK) : left / 2;
  }

  /** {@code start, start + step, …}. */
  static void ramp(long start, long step, long[] values, int from, int count) {
    System.arraycopy(IOTA, 0, values, from, count);
    for (int i = from; i < from + count; i++) {
      values[i] = values[i] * step + start;
    }
  }

  /**
   * {@link Words#fill}, with the counter of the first position. All is made in the target: copying what was made elsewhere takes
   * longer, as the target is seldom in the first-level cache.
   */
  static void words(long base, long stride, long key, long[] target, int from, int count) {
    if (stride == 1) {
      System.arraycopy(WEYL, 0, target, from, count);
    } else {
      ramp(0, stride * Mixing.GAMMA, target, from, count);
    }
    for (int i = from; i < from + count; i++) {
      long z = target[i] + base;
      z = (z ^ (z >>> 30)) * Mixing.FIRST + key;
      target[i] = (z ^ (z >>> 27)) * Mixing.SECOND;
    }
  }

  /**
   * Makes draws of words (SAMPLERS.md section 3) with the upper 40 bits of each, or something negative where the lower ones might
   * change the draw or reject it. Where words are cut does not depend on the bound, as shifts by constants are faster.
   *
   * @param bound at most 2²⁴
   */
  static void products(long[] words, int from, int count, long bound) {
    for (int i = from; i < from + count; i++) {
      long product = (words[i] >>> 24) * bound;
      words[i] = (product >>> 40) | ((((product + bound - 1) & LOWER_40) - bound) & Long.MIN_VALUE);
    }
  }

  /**
   * The same with all bits of each word; negative where it might be rejected.
   *
   * @param bound at most 2³²
   */
  static void productsOfTwoParts(long[] words, int from, int count, long bound) {
    for (int i = from; i < from + count; i++) {
      long word = words[i];
      long product = (word >>> 32) * bound + (((word & LOWER_32) * bound) >>> 32);
      words[i] = (product >>> 32) | (((product & LOWER_32) - 1) & Long.MIN_VALUE);
    }
  }

  /** Whether a value is negative; by fours, as one running result would wait for itself. */
  static boolean anyNegative(long[] values, int from, int count) {
    long a = 0;
    long b = 0;
    long c = 0;
    long d = 0;
    int i = from;
    for (; i < from + count - 3; i += 4) {
      a |= values[i];
      b |= values[i + 1];
      c |= values[i + 2];
      d |= values[i + 3];
    }
    for (; i < from + count; i++) {
      a |= values[i];
    }
    return (a | b | c | d) < 0;
  }

  /** Two rounds of the permutation (SAMPLERS.md section 4). */
  static void rounds(
      long[] values, int from, int count, long mask, int shift, long m, long a, long n, long b) {
    for (int i = from; i < from + count; i++) {
      long x = (values[i] * m + a) & mask;
      x ^= x >>> shift;
      x = (x * n + b) & mask;
      values[i] = x ^ (x >>> shift);
    }
  }

  /** The same for the first values, fewer than {@link #MIN}; another method, so that its loop is compiled for few. */
  static void fewRounds(
      long[] values, int count, long mask, int shift, long m, long a, long n, long b) {
    for (int i = 0; i < count; i++) {
      long x = (values[i] * m + a) & mask;
      x ^= x >>> shift;
      x = (x * n + b) & mask;
      values[i] = x ^ (x >>> shift);
    }
  }

  /** Where the values of {@code limit} and above stand; their number. {@code places} has room for one more than {@code count}. */
  static int beyond(long limit, long[] values, int from, int count, int[] places) {
    int found = 0;
    for (int i = from; i < from + count; i++) {
      places[found] = i;
      found += (int) ((limit - 1 - values[i]) >>> 63);
    }
    return found;
  }
}
