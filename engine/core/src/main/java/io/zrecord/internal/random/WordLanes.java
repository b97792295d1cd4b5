package io.zrecord.internal.random;

/** Holds the loops of {@link Lanes} that make random words and draws (SAMPLERS.md section 3). */
final class WordLanes {
  private static final int DIGIT = (1 << 15) - 1;

  private static final int[] RISING = steps(Lanes.rising());
  private static final int[] FULL = steps(Lanes.order(Lanes.CHUNK));

  private WordLanes() {}

  private static int[] steps(int[] order) {
    int[] steps = new int[Lanes.CHUNK];
    Lanes.ramp(order, 0, Words.GAMMA, steps, Lanes.CHUNK);
    return steps;
  }

  /**
   * Returns what to add to the counter of the first position for those of the other positions. The
   * caller must not change the array.
   */
  static int[] steps(int[] order, long stride, int[] spare, int count) {
    if (stride == 1) {
      return order == Lanes.rising() ? RISING : FULL;
    }
    Lanes.ramp(order, 0, (int) stride * Words.GAMMA, spare, count);
    return spare;
  }

  /** Writes the upper halves of the words at the counters {@code start + steps[i]}. */
  static void high(int[] steps, int start, int first, int second, int[] high, int count) {
    for (int i = 0; i < count; i++) {
      int t = steps[i] + start;
      int x = (t ^ (t >>> 16)) * Words.FIRST + first;
      x = (x ^ (x >>> 15)) * Words.SECOND + second;
      high[i] = (x ^ (x >>> 15)) + t;
    }
  }

  /** Writes the lower halves of the words at these counters. */
  static void low(int[] steps, int start, int third, int[] high, int[] low, int count) {
    for (int i = 0; i < count; i++) {
      int x = ((steps[i] + start) ^ high[i]) * Words.THIRD + third;
      low[i] = x ^ (((x >>> 16) * Words.FOURTH) >>> 16);
    }
  }

  /** Writes words of 64 bits. */
  static void join(int[] high, int[] low, long[] target, int from, int count) {
    for (int i = 0; i < count; i++) {
      target[from + i] = ((long) high[i] << 32) | (low[i] & Lanes.LOWER);
    }
  }

  /**
   * Replaces upper halves of words by draws, or by something negative where the lower half of the
   * word might change the draw or reject the word. The digits of a word have 12, 12 and 8 bits
   * here, so that each product with a bound fits. The lower half carries at most 1 into the first
   * 12 bits of the fraction, so such words have 0 or the greatest value there.
   *
   * @param bound at most 2²⁰
   */
  static void products(int[] high, int count, int bound) {
    for (int i = 0; i < count; i++) {
      int x = high[i];
      int lower = ((x >>> 8) & 0xFFF) * bound + (((x & 0xFF) * bound) >>> 8);
      int sum = (x >>> 20) * bound + (lower >>> 12);
      high[i] = (sum >>> 12) | ((((sum + 1) & 0xFFF) - 2) & Integer.MIN_VALUE);
    }
  }

  /**
   * Replaces upper halves of words by draws made of the upper 45 bits of the words, or by something
   * negative where the other bits might change the draw or reject the word. The digits of words and
   * bounds have 15 bits here. The products that are left out carry at most 2 into the first digit
   * of the fraction, so such words have 0 there, or one of the two greatest values. The upper bits
   * of the lower half take one product, unlike the others ({@link #low}).
   *
   * @param bound at most 2³⁰
   */
  static void productsOfThreeDigits(
      int[] steps, int start, int third, int[] high, int count, int bound) {
    int b0 = bound & DIGIT;
    int b1 = bound >>> 15;
    for (int i = 0; i < count; i++) {
      int x = high[i];
      int low = ((steps[i] + start) ^ x) * Words.THIRD + third;
      int x2 = x >>> 17;
      int x1 = (x >>> 2) & DIGIT;
      int x0 = ((x & 3) << 13) | (low >>> 19);
      int sum = x2 * b0 + x1 * b1 + ((x1 * b0 + x0 * b1) >>> 15);
      high[i] = (x2 * b1 + (sum >>> 15)) | ((((sum + 2) & DIGIT) - 3) & Integer.MIN_VALUE);
    }
  }
}
