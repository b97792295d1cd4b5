package io.zrecord.internal.format;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.Shape;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Orders values by keys of 16 bytes, which are compared as unsigned (FORMAT.md section 5). A
 * greater value never has a lesser key, so what holds for keys of bounds holds for values; values
 * that differ may have one key. A type that a field can be promoted to has the same keys, unless it
 * has another order.
 */
public enum ValueOrder {
  /** Integers with a sign, dates and timestamps. */
  SIGNED,
  /** Integers without a sign, and booleans. */
  UNSIGNED,
  /** Numbers of 32 or 64 bits with a fraction. */
  FLOATING,
  /** Texts, by their bytes. */
  TEXT;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** Returns the order of the values of a field; null if no statistics of them are kept. */
  public static @Nullable ValueOrder of(ElementType type, Shape shape) {
    if (!shape.equals(Shape.scalar())) {
      return null;
    }
    return switch (type.kind()) {
      case I8, I16, I32, I64, DATE, TIMESTAMP, TIMESTAMP_NTZ -> SIGNED;
      case BOOL, U8, U16, U32, U64 -> UNSIGNED;
      case F32, F64 -> FLOATING;
      case UTF8 -> TEXT;
      case F16, BF16, DECIMAL, BYTES, NESTED -> null;
    };
  }

  /** Tells whether keys of values of one type are those of another type for the same values. */
  public static boolean isShared(ElementType stored, ElementType wanted, Shape shape) {
    ValueOrder order = of(stored, shape);
    boolean areDaysTimes =
        stored.kind() == ElementType.Kind.DATE && wanted.kind() != ElementType.Kind.DATE;
    return order != null && order == of(wanted, shape) && !areDaysTimes;
  }

  /** Compares keys. */
  public static int compare(long high, long low, long otherHigh, long otherLow) {
    int compared = Long.compareUnsigned(high, otherHigh);
    return compared != 0 ? compared : Long.compareUnsigned(low, otherLow);
  }

  /** Returns the first half of the key of a number that has a sign; the other half is 0. */
  public static long ofSigned(long value) {
    return value ^ Long.MIN_VALUE;
  }

  /** Returns the first half of the key of a number, which is not NaN; the other half is 0. */
  public static long ofDouble(double value) {
    long bits = Double.doubleToRawLongBits(value);
    return bits ^ (bits >> (Long.SIZE - 1) | Long.MIN_VALUE);
  }

  /** Returns the first half of the key of a text. */
  public static long highOf(byte[] source, int offset, int length) {
    return length >= Long.BYTES
        ? (long) LONGS.get(source, offset)
        : shortKey(source, offset, length);
  }

  /** Returns the other half of the key of a text. */
  public static long lowOf(byte[] source, int offset, int length) {
    return length >= 2 * Long.BYTES
        ? (long) LONGS.get(source, offset + Long.BYTES)
        : shortKey(source, offset + Long.BYTES, length - Long.BYTES);
  }

  private static long shortKey(byte[] source, int offset, int length) {
    long key = 0;
    for (int i = 0; i < length; i++) {
      key |= (source[offset + i] & 0xffL) << (Long.SIZE - Byte.SIZE * (i + 1));
    }
    return key;
  }
}
