package io.zrecord.internal.shard.write;

import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.values.ValueLengths;
import io.zrecord.read.StoredBlock;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the values of one field of a shard. Put a value or none, then end the record. The values
 * of the field are collected in a stripe, until the stripe is flushed to the chunk. Belongs to one
 * thread.
 */
public abstract class ColumnWriter implements AutoCloseable {
  private static final long LAST_OF_BLOCK = StatisticsRecord.SLOTS - 1;

  private final FieldSpec field;
  private final int widthBytes;
  private long absentCount;
  private long valueBytes;
  private boolean isPut;
  private @Nullable StatisticsCollector statistics;

  ColumnWriter(FieldSpec field) {
    this.field = field;
    this.widthBytes = field.valueWidthBytes().orElse(-1);
    this.statistics = StatisticsCollector.of(field);
  }

  final FieldSpec field() {
    return field;
  }

  /** Returns the sum of the physical lengths so far. */
  long valueBytes() {
    return valueBytes;
  }

  /**
   * Puts an element of 1 byte as the value of the current record. The methods below put elements of
   * other widths.
   */
  public final void putByte(byte value) {
    beginScalar(1);
    addNumber(value);
    storeByte(value);
  }

  public final void putShort(short value) {
    beginScalar(2);
    addNumber(value);
    storeShort(value);
  }

  public final void putInt(int value) {
    beginScalar(4);
    addNumber(value);
    storeInt(value);
  }

  public final void putLong(long value) {
    beginScalar(8);
    addNumber(value);
    storeLong(value);
  }

  /** Puts a whole value, little-endian. */
  public final void put(byte[] source, int offset, int length) {
    beginValue(source, offset, length);
    store(source, offset, length);
  }

  private void beginValue(byte[] source, int offset, int length) {
    java.util.Objects.checkFromIndexSize(offset, length, source.length);
    if (widthBytes >= 0
        ? length != widthBytes
        : field.shape().isVariable() && !ValueLengths.areWholeSteps(field, length)) {
      throw ValueLengths.wrong(field, length);
    }
    begin();
    if (statistics != null) {
      statistics.add(source, offset, length);
    }
  }

  /**
   * Puts a value in its stored form.
   *
   * @throws IllegalArgumentException if the field is not compressed, or the prefix is missing
   */
  public final void putStored(byte[] source, int offset, int length) {
    java.util.Objects.checkFromIndexSize(offset, length, source.length);
    if (field.compression().codec() == Codec.RAW || length < ValueCodec.PREFIX_BYTES) {
      throw new IllegalArgumentException("Cannot write " + length
          + " stored bytes to field '" + field.name() + "' with the compression "
          + field.compression() + ": stored bytes are those of a compressed field, "
          + ValueCodec.PREFIX_BYTES + " or more; put the value itself");
    }
    begin();
    if (statistics != null) {
      statistics.addUnknown();
    }
    placeStored(source, offset, length);
  }

  /**
   * Puts a block of values that is already compressed, instead of the values of this and the next
   * records. For each of them call {@link #putOfBlock}, unless the value is absent, and end the
   * record.
   *
   * @return {@code false} if the field is not written in such blocks, or is short of one; then put
   *     the values
   */
  public boolean putBlock(StoredBlock block) {
    return false;
  }

  /** Puts the value of the current record that is in the block, little-endian and decoded. */
  public final void putOfBlock(byte[] source, int offset, int length) {
    requireWithinBlock();
    beginValue(source, offset, length);
  }

  void requireWithinBlock() {
    throw new IllegalStateException("No block was put to field '" + field.name() + "'");
  }

  /** Tells whether the current record has a value of this field already. */
  public final boolean isPut() {
    return isPut;
  }

  /**
   * Ends the record. The value is absent if none was put.
   *
   * @param before number of records of the shard before this record
   */
  public final void endRecord(long before) {
    if (isPut) {
      isPut = false;
      endPresent(before);
    } else {
      absentCount++;
      if (statistics != null) {
        statistics.addAbsent();
      }
      endAbsent(before);
    }
    if ((before & LAST_OF_BLOCK) == LAST_OF_BLOCK && statistics != null) {
      statistics.endBlock();
    }
  }

  /** Takes note that no values follow. The stripe must be flushed after that. */
  public void endValues() {}

  /** Writes the collected values to the chunk. */
  public abstract void flushStripe();

  /** Returns the bytes that were collected since the last flush, bookkeeping included. */
  public abstract long collectedBytes();

  /** Ends the tables of the field. All values must have been flushed; no value follows. */
  public abstract void end();

  /** Writes the tables of the field, which have ended. */
  public abstract void finish(TablesWriter tables);

  @Override
  public abstract void close();

  abstract void storeByte(byte value);

  abstract void storeShort(short value);

  abstract void storeInt(int value);

  abstract void storeLong(long value);

  abstract void store(byte[] source, int offset, int length);

  /** Places a value in its stored form. Only called for compressed fields. */
  abstract void placeStored(byte[] source, int offset, int length);

  abstract void endPresent(long before);

  abstract void endAbsent(long before);

  final void countBytes(long bytes) {
    valueBytes += bytes;
  }

  /**
   * Returns how many values were written, and what they are.
   *
   * @param slots number of records of the shard
   */
  final TablesWriter.Amount amount(long slots) {
    List<StatisticsRecord> records = List.of();
    StatisticsCollector collected = statistics;
    if (collected != null) {
      if (slots % StatisticsRecord.SLOTS != 0) {
        collected.endBlock();
      }
      records = collected.isAnyKnown() ? collected.records() : List.of();
    }
    return new TablesWriter.Amount(absentCount, valueBytes, records);
  }

  /** Leaves the statistics to another writer, which is given the values first. */
  final void leaveStatistics() {
    statistics = null;
  }

  /** Takes the statistics of a writer that was given the same values. */
  final void takeStatistics(ColumnWriter other) {
    statistics = other.statistics;
  }

  private void addNumber(long value) {
    if (statistics != null) {
      statistics.add(value);
    }
  }

  private void beginScalar(int bytes) {
    if (widthBytes < 0) {
      throw new IllegalArgumentException("Cannot write a single number of " + bytes
          + " bytes to field '" + field.name() + "' of type " + field.type()
          + ": its values have any length; put them as bytes");
    }
    if (bytes != widthBytes) {
      throw ValueLengths.wrong(field, bytes);
    }
    begin();
  }

  private void begin() {
    if (isPut) {
      throw new IllegalStateException("Field '" + field.name()
          + "' was put twice in one record; call endRecord() after each record");
    }
    isPut = true;
  }
}
