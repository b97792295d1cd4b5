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
  /** Up to this many bits of the bound one part is enough: at most one draw of 2¹⁶ is made again. */
  private static final int ONE_PART_BITS = 24;

  /** Up to this many, two parts are. */
  private static final int TWO_PARTS_BITS = 32;

  private final long bound;
  private final int bits;
  private final long rejected;

  /** @param bound at least 1 and at most 2⁶² */
  Bounded(long bound) {
    this.bound = bound;
    this.bits = Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(bound - 1));
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
   * @param scratch room for {@code count} values
   * @param count at most {@link Lanes#CHUNK}
   */
  void draw(
      Words words, long position, long stride, long[] scratch, long[] target, int from, int count) {
    if (count < Lanes.MIN) {
      for (int i = 0; i < count; i++) {
        target[from + i] = at(words, position + i * stride);
      }
      return;
    }
    words.fill(position, stride, scratch, count);
    if (bits > TWO_PARTS_BITS) {
      for (int i = 0; i < count; i++) {
        target[from + i] = of(scratch[i], words, position + i * stride);
      }
      return;
    }
    if (bits <= ONE_PART_BITS) {
      Lanes.products(scratch, count, bound, bits, Long.SIZE - bits);
    } else {
      Lanes.productsOfTwoParts(scratch, count, bound, bits, Long.SIZE - bits);
    }
    if (Lanes.anyNegative(scratch, count)) {
      for (int i = 0; i < count; i++) {
        if (scratch[i] < 0) {
          scratch[i] = at(words, position + i * stride);
        }
      }
    }
    System.arraycopy(scratch, 0, target, from, count);
  }
}
