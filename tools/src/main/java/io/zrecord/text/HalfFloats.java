package io.zrecord.text;

/** Converts the two floating-point types of 16 bits, which Java 17 lacks. Stateless. */
final class HalfFloats {
  private static final int F16_MANTISSA_BITS = 10;
  private static final int F16_BIAS = 15;

  private HalfFloats() {}

  /** Converts an IEEE 754 binary16 exactly. */
  static float ofF16(short bits) {
    int exponent = bits >> F16_MANTISSA_BITS & 0x1f;
    int mantissa = bits & 0x3ff;
    float magnitude;
    if (exponent == 0x1f) {
      magnitude = mantissa == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
    } else if (exponent == 0) {
      magnitude = mantissa * 0x1p-24f;
    } else {
      magnitude = Math.scalb(1 + mantissa * 0x1p-10f, exponent - F16_BIAS);
    }
    return bits < 0 ? -magnitude : magnitude;
  }

  /** Converts a bfloat16 exactly. */
  static float ofBf16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /** Returns the nearest bfloat16; the even one of two equally near. */
  static short toBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  /** Returns the nearest binary16; the even one of two equally near. */
  static short toF16(float value) {
    int sign = Float.floatToRawIntBits(value) >>> 16 & 0x8000;
    float magnitude = Math.abs(value);
    if (Float.isNaN(value)) {
      return (short) (sign | 0x7e00);
    }
    if (magnitude >= 0x1.ffep15f) {
      return (short) (sign | 0x7c00);
    }
    if (magnitude < 0x1p-14f) {
      return (short) (sign | (int) Math.rint(magnitude * 0x1p24));
    }
    int exponent = Math.getExponent(magnitude);
    int mantissa = (int) Math.rint(Math.scalb((double) magnitude, F16_MANTISSA_BITS - exponent));
    // A mantissa rounded up to 2048 correctly increases the exponent by one.
    return (short) (sign | (((exponent + F16_BIAS - 1) << F16_MANTISSA_BITS) + mantissa));
  }
}
