package io.zrecord.table;

import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import java.util.Optional;
import java.util.UUID;

/** SKELETON of the bulk writer of one shard. */
public final class ShardWriter implements AutoCloseable {
  public static ShardWriter create(Storage storage, UUID shardId, RecordSchema schema, WriteOptions options) {
    throw new UnsupportedOperationException();
  }

  /** Value of a fixed-width single element field of 1 byte; likewise the others. {@code field} is the ordinal in the schema. */
  public void putByte(int field, byte value) {}

  public void putShort(int field, short value) {}

  public void putInt(int field, int value) {}

  public void putLong(int field, long value) {}

  public void putFloat(int field, float value) {}

  public void putDouble(int field, double value) {}

  /** A whole value as little-endian bytes, copied. */
  public void put(int field, byte[] source, int offset, int lengthBytes) {}

  /** Ends the record; fields that were not put are absent. */
  public void endRecord() {}

  public long recordCount() {
    return 0;
  }

  /** Bytes written to files so far. */
  public long writtenBytes() {
    return 0;
  }

  /** Writes the rest, forces if the durability asks for it, and seals the shard; empty if there were no records. */
  public Optional<ShardSummary> finish() {
    return Optional.empty();
  }

  /** Deletes what was written unless finished; best effort, tolerates interruption. */
  @Override
  public void close() {}
}
