package io.zrecord.table.write;

import io.zrecord.Spi;

/**
 * Takes the values of one record after another: a new record of a shard ({@link ShardWriter}), or a
 * record that changes. A field is given by its ordinal among the fields of the sink. Belongs to one
 * thread.
 */
@Spi
public interface ValueSink {
  /** Puts a single element of 1 byte as the value of a field. */
  void putByte(int field, byte value);

  /** Puts a single element of 2 bytes. */
  void putShort(int field, short value);

  /** Puts a single element of 4 bytes. */
  void putInt(int field, int value);

  /** Puts a single element of 8 bytes. */
  void putLong(int field, long value);

  /** Puts the bits as they are, NaN payloads included. */
  default void putFloat(int field, float value) {
    putInt(field, Float.floatToRawIntBits(value));
  }

  /** Puts the bits as they are, NaN payloads included. */
  default void putDouble(int field, double value) {
    putLong(field, Double.doubleToRawLongBits(value));
  }

  /**
   * Puts a whole value of any field as little-endian bytes, which are copied.
   *
   * @throws io.zrecord.errors.ValueTooLargeException if the field does not take values of this
   *     length
   */
  void put(int field, byte[] source, int offset, int lengthBytes);

  /** Returns the number of records ended so far, for messages. */
  long recordCount();
}
