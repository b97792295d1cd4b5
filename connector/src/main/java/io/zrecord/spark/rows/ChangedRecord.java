package io.zrecord.spark.rows;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.write.RequiredValue;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.write.ValueSink;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes new values of one record of a shard.
 *
 * @param shard the change of the shard
 * @param index of the record in the shard
 * @param plan of the statement
 * @param recordCount number of records that the task has changed before
 * @param stored the values so far, of which none is written again; null if they differ anyway
 */
record ChangedRecord(
    ShardChangeWriter shard,
    long index,
    RowPlan plan,
    long recordCount,
    @Nullable StoredValues stored)
    implements ValueSink {

  @Override
  public void putByte(int field, byte value) {
    put(field, new byte[] {value});
  }

  @Override
  public void putShort(int field, short value) {
    put(field, bytes(Short.BYTES).putShort(value).array());
  }

  @Override
  public void putInt(int field, int value) {
    put(field, bytes(Integer.BYTES).putInt(value).array());
  }

  @Override
  public void putLong(int field, long value) {
    put(field, bytes(Long.BYTES).putLong(value).array());
  }

  @Override
  public void put(int field, byte[] source, int offset, int lengthBytes) {
    put(field, Arrays.copyOfRange(source, offset, offset + lengthBytes));
  }

  private static ByteBuffer bytes(int count) {
    return ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
  }

  private boolean isRequired(int field) {
    RecordSchema schema = plan.base().schema();
    return !plan.columns().apply(field).nullable()
        || !schema.fields().get(schema.ordinal(name(field))).rules().isNullable();
  }

  private String name(int field) {
    return plan.fields().fields().get(field).name();
  }

  /** Takes the value of a field as the bytes that are stored; null if the value is absent. */
  void put(int field, byte @Nullable [] value) {
    if (stored == null || !stored.has(index, field, value)) {
      if (value == null && isRequired(field)) {
        throw RequiredValue.missing(plan.columns().apply(field).name());
      }
      shard.update(index, name(field), value);
    }
  }
}
