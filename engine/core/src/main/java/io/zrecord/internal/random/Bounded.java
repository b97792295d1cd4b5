package io.zrecord.internal.random;

/**
 * Draws from {@code [0, bound)} without bias (SAMPLERS.md section 3). A draw is the upper half of
 * the product of a word and the bound, unless the lower half is below {@code 2⁶⁴ mod bound}. A
 * rejected position takes the word of another stream, so that the draw is a function of its
 * position. Immutable.
 *
 * <p>HotSpot 17 makes no vector instructions of products of more than 32 bits without AVX-512. So
 * chunks are multiplied in digits of 8 to 15 bits, from the top. The few draws that the other
 * digits could change are marked, and made again exactly.
 *
 * <p>Source: Lemire, "Fast Random Integer Generation in an Interval" (2019).
 */
public final class Bounded {
  /** Largest bound for which the upper half of the word is enough; one draw of 2¹¹ is repeated. */
  private static final long ONE_WORD = 1L << 20;

  /** Largest bound for which the upper 45 bits are enough; three draws of 2¹⁵ are repeated. */
  private static final long THREE_DIGITS = 1L << 30;

  private final long bound;
  private final long rejected;

  /** @param bound at least 1 and at most 2⁶² */
  public Bounded(long bound) {
    this.bound = bound;
    this.rejected = Long.remainderUnsigned(-bound, bound);
  }

  /** Returns the draw at a position. */
  long at(Words words, long position) {
    return of(words.at(position), words, position);
  }

  private long of(long first, Words words, long position) {
    long word = first;
    for (int attempt = 1; Long.compareUnsigned(word * bound, rejected) < 0; attempt++) {
      word = words.again(attempt, position);
    }
    return Math.multiplyHigh(word, bound) + ((word >> 63) & bound);
  }

  /**
   * Writes the draws at {@code position, position + stride, …} to {@code target[from]} and on.
   *
   * @param count at most {@link Lanes#CHUNK}
   */
  public void draw(Words words, long position, long stride, long[] target, int from, int count) {
    if (!words.together(position, stride, count)) {
      for (int i = 0; i < count; i++) {
        target[from + i] = at(words, position + i * stride);
      }
      return;
    }
    if (bound > THREE_DIGITS) {
      exact(words, position, stride, target, from, count);
      return;
    }
    Scratch scratch = Scratch.own();
    int[] draws = scratch.high;
    int[] order = Lanes.order(count);
    int[] steps = WordLanes.steps(order, stride, scratch.steps, count);
    int counter = words.counter(position);
    WordLanes.high(steps, counter, words.first(), words.second(), draws, count);
    if (bound <= ONE_WORD) {
      WordLanes.products(draws, count, (int) bound);
    } else {
      WordLanes.productsOfThreeDigits(steps, counter, words.third(), draws, count, (int) bound);
    }
    Lanes.widen(draws, scratch, target, from, count);
    int marked = Lanes.negative(draws, scratch.low, count, scratch.places);
    for (int i = 0; i < marked; i++) {
      int place = order[scratch.places[i]];
      target[from + place] = at(words, position + place * stride);
    }
  }

  private void exact(Words words, long position, long stride, long[] target, int from, int count) {
    words.fill(position, stride, target, from, count);
    for (int i = 0; i < count; i++) {
      target[from + i] = of(target[from + i], words, position + i * stride);
    }
  }
}
