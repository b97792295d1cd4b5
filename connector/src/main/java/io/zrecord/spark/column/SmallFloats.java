package io.zrecord.spark.column;

/** Converts IEEE 754 half precision, which the JDK converts from release 20 on. */
final class SmallFloats {
  private static final int EXPONENT_DIFFERENCE = 127 - 15;
  private static final float SMALLEST_SUBNORMAL = 0x1p-24f;

  private SmallFloats() {}

  /** Returns the exact value of a half. Keeps the bits of a NaN. */
  static float fromHalf(short half) {
    int sign = (half & 0x8000) << 16;
    int exponent = (half >> 10) & 0x1f;
    int fraction = half & 0x3ff;
    if (exponent == 0) {
      float magnitude = fraction * SMALLEST_SUBNORMAL;
      return sign == 0 ? magnitude : -magnitude;
    }
    int bits = exponent == 0x1f ? 0xff : exponent + EXPONENT_DIFFERENCE;
    return Float.intBitsToFloat(sign | bits << 23 | fraction << 13);
  }
}
