package io.zrecord.sampler;

/**
 * Draws from {@code [0, bound)} without bias (SAMPLERS.md section 3): the upper half of {@code word · bound}, unless the lower half is
 * below {@code 2⁶⁴ mod bound}. A rejected position takes the word of another stream, so that the draw is a function of its position.
 * Immutable.
 *
 * <p>HotSpot 17 makes no vector instructions of {@link Math#multiplyHigh}. So chunks are multiplied in parts of the word, from the
 * top, each product within 64 bits; the few draws that the parts left out could change are marked, and made again exactly.
 *
 * <p>Source: Lemire, "Fast Random Integer Generation in an Interval" (2019).
 */
final class Bounded {
  /** Up to this bound one part is enough: at most one draw of 2¹⁶ is made again. */
  private static final long ONE_PART = 1L << 24;

  /** Up to this one two parts are, and one draw of 2³² is made again. */
  private static final long TWO_PARTS = 1L << 32;

  private final long bound;
  private final long rejected;

  /** @param bound at least 1 and at most 2⁶² */
  Bounded(long bound) {
    this.bound = bound;
    this.rejected = Long.remainderUnsigned(-bound, bound);
  }

  /** The draw at a position. */
  long at(Words words, long position) {
    return of(words.at(position), words, position);
  }

  private long of(long first, Words words, long position) {
    long word = first;
    for (int attempt = 1; Long.compareUnsigned(word * bound, rejected) < 0; attempt++) {
      word = words.again(attempt).at(position);
    }
    return Math.multiplyHigh(word, bound) + ((word >> 63) & bound);
  }

  /**
   * Writes the draws at {@code position, position + stride, …} to {@code target[from]} and on.
   *
   * @param count at most {@link Lanes#CHUNK}
   */
  void draw(Words words, long position, long stride, long[] target, int from, int count) {
    if (count < Lanes.MIN) {
      for (int i = 0; i < count; i++) {
        target[from + i] = at(words, position + i * stride);
      }
      return;
    }
    words.fill(position, stride, target, from, count);
    if (bound > TWO_PARTS) {
      for (int i = 0; i < count; i++) {
        target[from + i] = of(target[from + i], words, position + i * stride);
      }
      return;
    }
    if (bound <= ONE_PART) {
      Lanes.products(target, from, count, bound);
    } else {
      Lanes.productsOfTwoParts(target, from, count, bound);
    }
    if (Lanes.anyNegative(target, from, count)) {
      for (int i = 0; i < count; i++) {
        if (target[from + i] < 0) {
          target[from + i] = at(words, position + i * stride);
        }
      }
    }
  }
}
