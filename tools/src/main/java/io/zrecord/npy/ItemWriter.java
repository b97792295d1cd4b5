package io.zrecord.npy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.table.write.ShardWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Puts the records of a block as values of a field. Belongs to one thread. */
final class ItemWriter {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  /** The number that NumPy calls NaT. */
  private static final long NOT_A_TIME = Long.MIN_VALUE;

  private final String path;
  private final NpyArray array;
  private final int field;

  ItemWriter(String path, NpyArray array, int field) {
    this.path = path;
    this.array = array;
    this.field = field;
  }

  /** Puts the value of the record at an offset in a block. Puts nothing if the value is absent. */
  void put(ShardWriter writer, byte[] block, int offset) {
    int bytes = array.recordBytes();
    switch (array.type().form()) {
      case PLAIN -> writer.put(field, block, offset, bytes);
      case BYTES -> writer.put(field, block, offset, withoutPadding(block, offset, bytes));
      case TEXT -> putText(writer, block, offset, bytes);
      case TIME -> {
        long time = (long) LONG.get(block, offset);
        if (time != NOT_A_TIME) {
          writer.putLong(field, scaled(time));
        }
      }
      case DATE -> {
        long days = (long) LONG.get(block, offset);
        if (days != NOT_A_TIME) {
          writer.putInt(field, date(days));
        }
      }
    }
  }

  private static int withoutPadding(byte[] block, int offset, int bytes) {
    int length = bytes;
    while (length > 0 && block[offset + length - 1] == 0) {
      length--;
    }
    return length;
  }

  private void putText(ShardWriter writer, byte[] block, int offset, int bytes) {
    int characters = bytes / 4;
    while (characters > 0 && (int) INT.get(block, offset + 4 * (characters - 1)) == 0) {
      characters--;
    }
    StringBuilder text = new StringBuilder(characters);
    for (int i = 0; i < characters; i++) {
      int codePoint = (int) INT.get(block, offset + 4 * i);
      boolean isSurrogate =
          codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
      if (!Character.isValidCodePoint(codePoint) || isSurrogate) {
        throw corrupt("a string has the code point " + Integer.toHexString(codePoint)
            + ", which is not Unicode; clean it, or save the strings as bytes");
      }
      text.appendCodePoint(codePoint);
    }
    byte[] utf8 = text.toString().getBytes(StandardCharsets.UTF_8);
    writer.put(field, utf8, 0, utf8.length);
  }

  private long scaled(long time) {
    try {
      return Math.multiplyExact(time, array.type().microseconds());
    } catch (ArithmeticException e) {
      throw corrupt("the time " + time + " is beyond 64 bits in microseconds");
    }
  }

  private int date(long days) {
    if (days != (int) days) {
      throw corrupt("the date of day " + days + " is beyond 32 bits");
    }
    return (int) days;
  }

  private CorruptDataException corrupt(String reason) {
    return new CorruptDataException(path, "Cannot import " + path + ": " + reason);
  }
}
