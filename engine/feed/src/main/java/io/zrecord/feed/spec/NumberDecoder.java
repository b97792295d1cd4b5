package io.zrecord.feed.spec;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.ElementType.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;

/** Reads single numbers of any type as 64-bit floats, the nearest there is. Stateless. */
final class NumberDecoder {
  private static final Set<Kind> OTHERS =
      EnumSet.of(Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ, Kind.BYTES, Kind.UTF8, Kind.NESTED);

  private NumberDecoder() {}

  /** Returns whether a type is a type of numbers; {@code bool} is. */
  static boolean isNumber(ElementType type) {
    return !OTHERS.contains(type.kind());
  }

  /**
   * Reads the number at the position of a little-endian buffer, and moves the position after it.
   */
  static double next(ElementType type, ByteBuffer bytes) {
    return switch (type.kind()) {
      case BOOL, U8 -> Byte.toUnsignedInt(bytes.get());
      case I8 -> bytes.get();
      case I16 -> bytes.getShort();
      case U16 -> Short.toUnsignedInt(bytes.getShort());
      case I32 -> bytes.getInt();
      case U32 -> Integer.toUnsignedLong(bytes.getInt());
      case I64 -> bytes.getLong();
      case U64 -> unsigned(bytes.getLong());
      case F16 -> half(bytes.getShort());
      case BF16 -> Float.intBitsToFloat(bytes.getShort() << 16);
      case F32 -> bytes.getFloat();
      case F64 -> bytes.getDouble();
      case DECIMAL -> decimal(type, bytes);
      case DATE, TIMESTAMP, TIMESTAMP_NTZ, BYTES, UTF8, NESTED ->
        throw new IllegalArgumentException("A value of " + type + " is no number");
    };
  }

  private static double unsigned(long bits) {
    // The lowest bit stays part of what is rounded.
    return bits >= 0 ? bits : (double) ((bits >>> 1) | (bits & 1)) * 2;
  }

  private static double half(short bits) {
    int exponent = (bits >> 10) & 0x1f;
    int fraction = bits & 0x3ff;
    double size = switch (exponent) {
      case 0 -> Math.scalb((double) fraction, -24);
      case 0x1f -> fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
      default -> Math.scalb((double) (fraction | 0x400), exponent - 25);
    };
    return bits < 0 ? -size : size;
  }

  private static double decimal(ElementType type, ByteBuffer bytes) {
    int width = type.widthBytes().getAsInt();
    byte[] digits = new byte[width];
    for (int i = width - 1; i >= 0; i--) {
      digits[i] = bytes.get();
    }
    return new BigDecimal(new BigInteger(digits), type.scale()).doubleValue();
  }
}
