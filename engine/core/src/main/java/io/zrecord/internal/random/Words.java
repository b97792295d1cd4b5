package io.zrecord.internal.random;

/**
 * Makes random words of 64 bits by position (SAMPLERS.md section 3). The keys of 2³² positions are
 * at hand; words at other positions are made with keys of their own. Immutable.
 *
 * @param stream the key that all others are made of
 * @param block the upper bits of the positions whose keys are at hand
 * @param start the counter of the first of these positions
 * @param first added after the first product, so that streams whose counters overlap differ
 * @param second added after the second product
 * @param third added after the third product
 */
public record Words(long stream, long block, int start, int first, int second, int third) {
  static final int GAMMA = 0x9E3779B9;
  static final int FIRST = 0x21F0AAAD;
  static final int SECOND = 0xD35A2D97;
  static final int THIRD = 0xED5AD4BB;
  static final int FOURTH = 0xAC4C1B51;

  private static final int BLOCK_BITS = 32;

  public static Words of(long stream, long position) {
    long block = position >>> BLOCK_BITS;
    long key = Mixing.absorb(stream, block);
    long one = Mixing.expand(key, 0);
    long two = Mixing.expand(key, 1);
    return new Words(stream, block, (int) (one >>> 32), (int) one, (int) (two >>> 32), (int) two);
  }

  /** Returns words that have the keys of a position at hand. */
  public Words near(long position) {
    return position >>> BLOCK_BITS == block ? this : of(stream, position);
  }

  /**
   * Returns the word at a position of another stream, which is used when the words of this position
   * were rejected {@code attempt} times.
   */
  long again(int attempt, long position) {
    return of(Mixing.absorb(stream, attempt), position).at(position);
  }

  /** Returns the word at a position. */
  public long at(long position) {
    if (position >>> BLOCK_BITS != block) {
      return of(stream, position).at(position);
    }
    int t = counter(position);
    int x = (t ^ (t >>> 16)) * FIRST + first;
    x = (x ^ (x >>> 15)) * SECOND + second;
    int high = (x ^ (x >>> 15)) + t;
    x = (t ^ high) * THIRD + third;
    int low = x ^ (((x >>> 16) * FOURTH) >>> 16);
    return ((long) high << 32) | (low & Lanes.LOWER);
  }

  /**
   * Returns whether {@code count} positions are enough for a vector loop, and the keys of all of
   * them are at hand.
   */
  boolean together(long position, long stride, int count) {
    return count >= Lanes.MIN
        && position >>> BLOCK_BITS == block
        && (position + (count - 1) * stride) >>> BLOCK_BITS == block;
  }

  /** Writes the words at {@code position, position + stride, …}; at most {@link Lanes#CHUNK}. */
  public void fill(long position, long stride, long[] target, int from, int count) {
    if (!together(position, stride, count)) {
      for (int i = 0; i < count; i++) {
        target[from + i] = at(position + i * stride);
      }
      return;
    }
    Scratch scratch = Scratch.own();
    int[] steps = WordLanes.steps(Lanes.rising(), stride, scratch.steps, count);
    int counter = counter(position);
    WordLanes.high(steps, counter, first, second, scratch.high, count);
    WordLanes.low(steps, counter, third, scratch.high, scratch.low, count);
    WordLanes.join(scratch.high, scratch.low, target, from, count);
  }

  /** Returns the counter of a position whose keys are at hand. */
  int counter(long position) {
    return (int) position * GAMMA + start;
  }
}
