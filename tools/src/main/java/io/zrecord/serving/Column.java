package io.zrecord.serving;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.table.write.ShardWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The values of one field of a batch: bytes one after the other, where each ends if they differ in
 * length, and which are present if some are absent. Its memory is used again for the next batch.
 */
final class Column {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int NONE = -1;
  /** Arrays cannot be longer on all virtual machines. */
  private static final long MOST_BYTES = Integer.MAX_VALUE - 8L;

  private final FieldSpec field;
  /** Bytes of each value; {@link #NONE} if they differ. */
  private final int widthBytes;

  private byte[] values = new byte[0];
  private byte[] scratch = new byte[0];
  private int[] ends = new int[0];
  private byte @Nullable [] validity;

  Column(FieldSpec field) {
    this.field = field;
    this.widthBytes = field.valueWidthBytes().orElse(NONE);
  }

  /**
   * Reads the values of a batch.
   *
   * @param places position and length of the values, then the positions of their offsets and of the
   *     bits that say which are present, each -1 if there is none
   * @throws IllegalArgumentException if these are no values of the field
   */
  void read(SharedInput memory, int count, ByteBuffer places) {
    long at = places.getLong();
    long lengthBytes = places.getLong();
    long offsetsAt = places.getLong();
    long validityAt = places.getLong();
    boolean isFixed = widthBytes != NONE;
    if (lengthBytes < 0
        || lengthBytes > MOST_BYTES
        || (isFixed && lengthBytes != (long) count * widthBytes)
        || isFixed != (offsetsAt == NONE)) {
      throw invalid(lengthBytes + " bytes for " + count + " values "
          + (isFixed ? "of " + widthBytes + " bytes" : "of different lengths"));
    }
    values = atLeast(values, (int) lengthBytes);
    memory.read(at, (int) lengthBytes, values);
    validity = null;
    if (validityAt != NONE) {
      byte[] bits = new byte[(count + 7) / 8];
      memory.read(validityAt, bits.length, bits);
      validity = bits;
    }
    if (isFixed) {
      requireFlags((int) lengthBytes);
    } else {
      readEnds(memory, offsetsAt, count, (int) lengthBytes);
    }
  }

  private void readEnds(SharedInput memory, long offsetsAt, int count, int lengthBytes) {
    int bytes = Math.multiplyExact(count + 1, Long.BYTES);
    scratch = atLeast(scratch, bytes);
    memory.read(offsetsAt, bytes, scratch);
    if (ends.length <= count) {
      ends = new int[count + 1];
    }
    long before = 0;
    for (int i = 0; i <= count; i++) {
      long end = (long) LONG.get(scratch, i * Long.BYTES);
      if (end < before || end > lengthBytes || (i == 0 && end != 0)) {
        throw invalid("the offset " + end + " after " + before + ", of " + lengthBytes + " bytes");
      }
      ends[i] = (int) end;
      before = end;
    }
    if (before != lengthBytes) {
      throw invalid("offsets that end at " + before + ", not at " + lengthBytes);
    }
    if (field.type().equals(ElementType.UTF8)) {
      requireText(count);
    }
  }

  private void requireText(int count) {
    boolean isAscii = true;
    for (int i = 0; i < ends[count] && isAscii; i++) {
      isAscii = values[i] >= 0;
    }
    try {
      for (int i = 0; i < count && !isAscii; i++) {
        StandardCharsets.UTF_8
            .newDecoder()
            .decode(ByteBuffer.wrap(values, ends[i], ends[i + 1] - ends[i]));
      }
    } catch (CharacterCodingException e) {
      throw invalid("bytes that are not UTF-8");
    }
  }

  private void requireFlags(int lengthBytes) {
    if (field.type().equals(ElementType.BOOL)) {
      for (int i = 0; i < lengthBytes; i++) {
        if (values[i] < 0 || values[i] > 1) {
          throw invalid("the bool " + values[i]);
        }
      }
    }
  }

  boolean isAbsent(int record) {
    byte[] bits = validity;
    return bits != null && (bits[record >> 3] >> (record & 7) & 1) == 0;
  }

  /** Returns the bytes of a value that is present. */
  byte[] copy(int record) {
    return widthBytes == NONE
        ? Arrays.copyOfRange(values, ends[record], ends[record + 1])
        : Arrays.copyOfRange(values, record * widthBytes, (record + 1) * widthBytes);
  }

  /** Returns a value of 8 bytes. */
  long longAt(int record) {
    return (long) LONG.get(values, record * Long.BYTES);
  }

  /** Puts the value of a record into a writer, unless the value is absent. */
  void put(int record, ShardWriter shard, int ordinal) {
    if (isAbsent(record)) {
      return;
    }
    switch (widthBytes) {
      case Byte.BYTES -> shard.putByte(ordinal, values[record]);
      case Short.BYTES -> shard.putShort(ordinal, (short) SHORT.get(values, record * Short.BYTES));
      case Integer.BYTES -> shard.putInt(ordinal, (int) INT.get(values, record * Integer.BYTES));
      case Long.BYTES -> shard.putLong(ordinal, longAt(record));
      case NONE -> shard.put(ordinal, values, ends[record], ends[record + 1] - ends[record]);
      default -> shard.put(ordinal, values, record * widthBytes, widthBytes);
    }
  }

  private IllegalArgumentException invalid(String what) {
    return new IllegalArgumentException("A batch has, for field '" + field.name() + "', " + what
        + "; it was not laid out as the protocol says");
  }

  private static byte[] atLeast(byte[] array, int length) {
    return array.length >= length ? array : new byte[length];
  }
}
