package io.zrecord.spark.rows;

import io.zrecord.table.write.ValueSink;

/** Counts the bytes of values of records that move, and keeps none. Belongs to one thread. */
final class MovedValue implements ValueSink {
  private final WrittenValues counts;

  MovedValue(WrittenValues counts) {
    this.counts = counts;
  }

  @Override
  public void putByte(int field, byte value) {
    counts.moved(Byte.BYTES);
  }

  @Override
  public void putShort(int field, short value) {
    counts.moved(Short.BYTES);
  }

  @Override
  public void putInt(int field, int value) {
    counts.moved(Integer.BYTES);
  }

  @Override
  public void putLong(int field, long value) {
    counts.moved(Long.BYTES);
  }

  @Override
  public void put(int field, byte[] source, int offset, int lengthBytes) {
    counts.moved(lengthBytes);
  }

  @Override
  public long recordCount() {
    return 0;
  }
}
