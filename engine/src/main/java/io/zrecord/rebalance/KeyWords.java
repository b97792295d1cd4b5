package io.zrecord.rebalance;

import io.zrecord.schema.ElementType;
import java.nio.ByteBuffer;

/**
 * Cuts values into words of 64 bits whose order without sign, the first word counting most, is that of the values. Immutable.
 *
 * <p>A decimal of 16 bytes has two words. Texts and bytes are padded with zeros, and a last word is their length: it puts a value behind those that
 * it only continues with zeros. All else has one word.
 *
 * @param type of the values
 * @param direction in which they rise
 */
record KeyWords(ElementType type, Direction direction) {
  private static final long NAN = -1;

  /** @param longestBytes of the longest value */
  int countOf(int longestBytes) {
    if (type.widthBytes().isPresent()) {
      return type.widthBytes().getAsInt() > Long.BYTES ? 2 : 1;
    }
    return 1 + (longestBytes + Long.BYTES - 1) / Long.BYTES;
  }

  /**
   * One of the words.
   *
   * @param value little-endian, from its position to its limit
   * @param number of the word, 0 being the first, less than {@code count}
   * @param count of the words
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
    };
  }

  private static long signed(long value) {
    return value ^ Long.MIN_VALUE;
  }

  /** @param infinity its bits; what is above, without the sign, is no number */
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
