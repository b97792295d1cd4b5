package io.zrecord.rebalance.order;

import io.zrecord.schema.ElementType;
import java.nio.ByteBuffer;

/**
 * Cuts values into words of 64 bits. Words are compared without sign, the first word first, and
 * then order as the values do. Immutable.
 *
 * <p>A decimal of 16 bytes has two words. Texts and bytes are padded with zeros, and their last
 * word is their length, which puts a value after any value that it extends with zeros only. All
 * other types have one word.
 *
 * @param type type of the values
 * @param direction the direction in which values rise
 */
record KeyWords(ElementType type, Direction direction) {
  private static final long NAN = -1;

  /**
   * Returns the number of words of each value.
   *
   * @param longestBytes length of the longest value in bytes
   */
  int countOf(int longestBytes) {
    if (type.widthBytes().isPresent()) {
      return type.widthBytes().getAsInt() > Long.BYTES ? 2 : 1;
    }
    return 1 + (longestBytes + Long.BYTES - 1) / Long.BYTES;
  }

  /**
   * Returns one of the words.
   *
   * @param value little-endian, from its position to its limit
   * @param number number of the word from 0, less than {@code count}
   * @param count number of words
   */
  long word(ByteBuffer value, int number, int count) {
    long word = ascending(value, number, count);
    boolean isReversed = direction == Direction.DESCENDING && !(word == NAN && isFloat());
    return isReversed ? ~word : word;
  }

  private boolean isFloat() {
    return switch (type.kind()) {
      case F16, BF16, F32, F64 -> true;
      default -> false;
    };
  }

  private long ascending(ByteBuffer value, int number, int count) {
    int at = value.position();
    return switch (type.kind()) {
      case BOOL, U8 -> Byte.toUnsignedLong(value.get(at));
      case I8 -> signed(value.get(at));
      case U16 -> Short.toUnsignedLong(value.getShort(at));
      case I16 -> signed(value.getShort(at));
      case U32 -> Integer.toUnsignedLong(value.getInt(at));
      case I32, DATE -> signed(value.getInt(at));
      case U64 -> value.getLong(at);
      case I64, TIMESTAMP, TIMESTAMP_NTZ -> signed(value.getLong(at));
      case F16 -> floating(value.getShort(at), Short.SIZE, 0x7c00);
      case BF16 -> floating(value.getShort(at), Short.SIZE, 0x7f80);
      case F32 -> floating(value.getInt(at), Integer.SIZE, 0x7f80_0000);
      case F64 -> floating(value.getLong(at), Long.SIZE, 0x7ff0_0000_0000_0000L);
      case DECIMAL -> decimal(value, at, number, count);
      case BYTES, UTF8 -> text(value, number, count);
      case NESTED -> throw new IllegalStateException("Nested values have no order");
    };
  }

  private static long signed(long value) {
    return value ^ Long.MIN_VALUE;
  }

  /**
   * Returns the word of a floating-point number.
   *
   * @param infinity bits of infinity; anything above, without the sign, is NaN
   */
  private static long floating(long bits, int width, long infinity) {
    long sign = 1L << (width - 1);
    long magnitude = bits & (sign - 1);
    if (magnitude > infinity) {
      return NAN;
    }
    return (bits & sign) != 0 ? sign - magnitude : sign + magnitude;
  }

  private static long decimal(ByteBuffer value, int at, int number, int count) {
    if (count == 2) {
      return number == 0 ? signed(value.getLong(at + Long.BYTES)) : value.getLong(at);
    }
    return signed(value.remaining() == Integer.BYTES ? value.getInt(at) : value.getLong(at));
  }

  private static long text(ByteBuffer value, int number, int count) {
    if (number == count - 1) {
      return value.remaining();
    }
    int at = value.position() + number * Long.BYTES;
    int left = value.limit() - at;
    if (left >= Long.BYTES) {
      return Long.reverseBytes(value.getLong(at));
    }
    long word = 0;
    for (int i = 0; i < left; i++) {
      word |= Byte.toUnsignedLong(value.get(at + i)) << (Long.SIZE - Byte.SIZE * (i + 1));
    }
    return word;
  }
}
