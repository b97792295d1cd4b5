package io.zrecord.spark.rows;

import io.zrecord.spark.write.RequiredValue;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.write.ValueSink;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.Supplier;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/** Takes new values of one record of a shard after the other. Belongs to one thread. */
final class ChangedRecord implements ValueSink {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** By the ordinals of the columns; null for those that get no values. */
  private final ShardChangeWriter.@Nullable Values[] values;

  private final String location;
  private final StructType columns;
  private final boolean[] required;
  private final @Nullable StoredValues stored;
  private final Supplier<StoredValues> storedOnDemand;
  private final WrittenValues counts;
  private final byte[] element = new byte[Long.BYTES];
  private long index;
  private long recordCount;

  /**
   * Begins with the records of a shard.
   *
   * @param location of the table
   * @param columns the columns of the rows
   * @param required of each column, whether it is NOT NULL
   * @param values take the values of each column; null for columns that get none
   * @param stored the values so far, of which none is written again; null if they differ anyway
   * @param storedOnDemand returns the values so far in any case
   * @param counts counts the values
   */
  ChangedRecord(
      String location,
      StructType columns,
      boolean[] required,
      ShardChangeWriter.@Nullable Values[] values,
      @Nullable StoredValues stored,
      Supplier<StoredValues> storedOnDemand,
      WrittenValues counts) {
    this.location = location;
    this.columns = columns;
    this.required = required;
    this.values = values;
    this.stored = stored;
    this.storedOnDemand = storedOnDemand;
    this.counts = counts;
  }

  /**
   * Begins the next record.
   *
   * @param newIndex of the record in the shard
   * @param before number of records that the task has changed before
   */
  ChangedRecord at(long newIndex, long before) {
    index = newIndex;
    recordCount = before;
    return this;
  }

  @Override
  public void putByte(int field, byte value) {
    element[0] = value;
    put(field, element, 0, Byte.BYTES);
  }

  @Override
  public void putShort(int field, short value) {
    SHORTS.set(element, 0, value);
    put(field, element, 0, Short.BYTES);
  }

  @Override
  public void putInt(int field, int value) {
    INTS.set(element, 0, value);
    put(field, element, 0, Integer.BYTES);
  }

  @Override
  public void putLong(int field, long value) {
    LONGS.set(element, 0, value);
    put(field, element, 0, Long.BYTES);
  }

  @Override
  public void put(int field, byte[] source, int offset, int lengthBytes) {
    if (stored != null) {
      counts.compared();
      if (stored.has(index, field, source, offset, lengthBytes)) {
        return;
      }
    }
    values(field).put(index, source, offset, lengthBytes);
    counts.written(field, lengthBytes);
  }

  /**
   * Lets the value of a field be absent. A session without our rules does not see that a column is
   * NOT NULL. A record that has NULL in such a column keeps it.
   */
  void putAbsent(int field) {
    if (stored != null) {
      counts.compared();
      if (stored.isAbsent(index, field)) {
        return;
      }
    }
    if (required[field]) {
      if (stored == null && storedOnDemand.get().isAbsent(index, field)) {
        return;
      }
      throw RequiredValue.missing(location, columns.apply(field).name());
    }
    values(field).putAbsent(index);
    counts.written(field, 0);
  }

  private ShardChangeWriter.Values values(int field) {
    ShardChangeWriter.Values known = values[field];
    if (known == null) {
      throw new IllegalStateException("Column " + field + " gets no values");
    }
    return known;
  }

  @Override
  public long recordCount() {
    return recordCount;
  }
}
