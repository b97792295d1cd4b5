package io.zrecord.sampler;

import java.math.BigInteger;

/**
 * Draws from {@code [0, bound)} without bias (SAMPLERS.md section 3): of {@code bits} random bits, {@code 2^bits mod bound} values are
 * rejected, and what is left is divided by {@code ⌊2^bits / bound⌋}. A rejected position takes the word of another stream, so that the
 * draw is a function of its position. Immutable.
 *
 * <p>The division is a multiplication by a reciprocal (Granlund and Montgomery, "Division by Invariant Integers", 1994, theorem 4.2);
 * {@code bits} is the most for which 64 bits of the reciprocal are exact.
 */
final class Bounded {
  private final int shift;
  private final long rejected;
  private final long quantum;
  /** {@code ⌈2⁶⁴ / quantum⌉}; 0 if it has more than 63 bits. */
  private final long reciprocal;

  /** @param bound at least 1 and at most 2⁶² */
  Bounded(long bound) {
    int bits = (63 + Long.SIZE - Long.numberOfLeadingZeros(bound - 1)) / 2;
    this.shift = Long.SIZE - bits;
    this.rejected = (1L << bits) % bound;
    this.quantum = (1L << bits) / bound;
    this.reciprocal = quantum < 3 ? 0 : reciprocal(quantum);
  }

  private static long reciprocal(long quantum) {
    BigInteger divisor = BigInteger.valueOf(quantum);
    return BigInteger.ONE
        .shiftLeft(Long.SIZE)
        .add(divisor)
        .subtract(BigInteger.ONE)
        .divide(divisor)
        .longValueExact();
  }

  /**
   * Writes the draws at {@code position, position + stride, …} to {@code target[from]} and on.
   *
   * @param scratch room for {@code count} values
   * @param count at most {@link Lanes#CHUNK}
   */
  void draw(
      Words words, long position, long stride, long[] scratch, long[] target, int from, int count) {
    words.fill(position, stride, shift, rejected, scratch, count);
    if (reciprocal > 0 && quotients(scratch, reciprocal, target, from, count) >= 0) {
      return;
    }
    for (int i = 0; i < count; i++) {
      long value = scratch[i];
      for (int attempt = 1; value < 0; attempt++) {
        value = (words.again(attempt).at(position + i * stride) >>> shift) - rejected;
      }
      target[from + i] = value / quantum;
    }
  }

  /** Multiplies by the reciprocal, four at a time to keep the units busy; negative if any value is. */
  private static long quotients(long[] values, long factor, long[] target, int from, int count) {
    long signs = 0;
    int i = 0;
    for (; i < count - 3; i += 4) {
      long a = Math.multiplyHigh(values[i], factor);
      long b = Math.multiplyHigh(values[i + 1], factor);
      long c = Math.multiplyHigh(values[i + 2], factor);
      long d = Math.multiplyHigh(values[i + 3], factor);
      target[from + i] = a;
      target[from + i + 1] = b;
      target[from + i + 2] = c;
      target[from + i + 3] = d;
      signs |= a | b | c | d;
    }
    for (; i < count; i++) {
      target[from + i] = Math.multiplyHigh(values[i], factor);
      signs |= target[from + i];
    }
    return signs;
  }
}
