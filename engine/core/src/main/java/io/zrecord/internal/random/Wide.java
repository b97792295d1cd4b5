package io.zrecord.internal.random;

import java.math.BigInteger;

/** Computes with products of 128 bits. Arguments are not negative. */
public final class Wide {
  private Wide() {}

  /** Returns {@code ⌊a·b / divisor⌋}, which must be below 2⁶³. */
  public static long multiplyDivide(long a, long b, long divisor) {
    return fits(a, b)
        ? a * b / divisor
        : BigInteger.valueOf(a)
            .multiply(BigInteger.valueOf(b))
            .divide(BigInteger.valueOf(divisor))
            .longValueExact();
  }

  /** Returns {@code a·b mod modulus}. */
  public static long multiplyModulo(long a, long b, long modulus) {
    return fits(a, b)
        ? a * b % modulus
        : BigInteger.valueOf(a)
            .multiply(BigInteger.valueOf(b))
            .mod(BigInteger.valueOf(modulus))
            .longValueExact();
  }

  /** Returns the sign of {@code a·b − c·d}. */
  public static int compareProducts(long a, long b, long c, long d) {
    int high = Long.compare(Math.multiplyHigh(a, b), Math.multiplyHigh(c, d));
    return high != 0 ? high : Long.compareUnsigned(a * b, c * d);
  }

  private static boolean fits(long a, long b) {
    return Math.multiplyHigh(a, b) == 0 && a * b >= 0;
  }
}
