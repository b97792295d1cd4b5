package io.zrecord.spark.rows;

import io.zrecord.RecordDataset;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.Arrays;

/**
 * The values that the records of a shard have, to be compared with those of a statement's rows,
 * where nobody knows which columns the statement assigns. Belongs to one task.
 */
final class StoredValues implements AutoCloseable {
  private final RecordDataset shard;
  private final FieldReader[] readers;
  private final long[] index = new long[1];

  StoredValues(Storage storage, RecordSchema fields, ShardSummary shard) {
    this.shard = RecordDataset.openShard(
        storage,
        fields,
        shard,
        new RecordDataset.ReadOptions(Verification.FIRST, new ReadMetrics()));
    this.readers = fields.fields().stream()
        .map(field -> this.shard.reader(field.name()))
        .toArray(FieldReader[]::new);
  }

  /**
   * Tells whether a record has a value.
   *
   * @param record index of the record in the shard
   * @param field ordinal of the field
   * @param source has the value as it is stored
   */
  boolean has(long record, int field, byte[] source, int offset, int lengthBytes) {
    FieldReader reader = select(record, field);
    return !reader.isAbsent(0)
        && reader.lengthBytes(0) == lengthBytes
        && Arrays.equals(reader.value(0), 0, lengthBytes, source, offset, offset + lengthBytes);
  }

  /** Tells whether the value of a record is absent. */
  boolean isAbsent(long record, int field) {
    return select(record, field).isAbsent(0);
  }

  private FieldReader select(long record, int field) {
    index[0] = record;
    FieldReader reader = readers[field];
    reader.select(index, 0, 1);
    return reader;
  }

  @Override
  public void close() {
    shard.close();
  }
}
