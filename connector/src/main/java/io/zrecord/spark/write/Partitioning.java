package io.zrecord.spark.write;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.write.ShardWriter;
import java.io.Serializable;
import java.util.List;
import java.util.UUID;
import org.apache.spark.sql.types.StructType;

/**
 * Says by which fields, and after how many bytes, tasks divide their rows. Immutable.
 *
 * @param ordinals places of the partition fields among those that tasks write; empty if the table
 *     has no partitions
 * @param isSorted whether the rows of each task come partition by partition
 * @param shardBytes after how many bytes of chunk files the next shard begins
 */
public record Partitioning(List<Integer> ordinals, boolean isSorted, long shardBytes)
    implements Serializable {
  /**
   * Shards that a task has open where partitions take turns. Each of them has its part of the
   * memory of the task, and a file or an upload.
   */
  private static final int MOST_OPEN = 16;

  private static final long LEAST_STRIPE_BYTES = 64 << 10;

  public Partitioning {
    ordinals = List.copyOf(ordinals);
  }

  /** Returns the shards of an attempt of a task. */
  TaskShards shards(
      Storage storage, StructType columns, RecordSchema fields, WriteOptions options) {
    SealedShards sealed = new SealedShards(RecordTable.at(storage)::discard);
    if (ordinals.isEmpty()) {
      return new ShardSeries(
          () -> ShardWriter.create(storage, fields, options), sealed, shardBytes);
    }
    List<Integer> ids = ordinals.stream()
        .map(ordinal -> fields.fields().get(ordinal))
        .map(FieldSpec::id)
        .toList();
    int mostOpen = isSorted ? 1 : MOST_OPEN;
    WriteOptions ofShard =
        options.withStripeBytes(Math.max(LEAST_STRIPE_BYTES, options.stripeBytes() / mostOpen));
    return new PartitionedShards(
        of(columns, fields),
        mostOpen,
        texts -> ShardWriter.create(storage, UUID.randomUUID(), fields, ofShard, ids, texts),
        sealed,
        shardBytes);
  }

  /**
   * Returns what finds the partitions of rows.
   *
   * @param columns the columns of the rows
   * @param fields the field of each column, and those that no column has
   */
  public RowPartitions of(StructType columns, RecordSchema fields) {
    return new RowPartitions(ordinals.stream()
        .map(ordinal -> ordinal < columns.length()
            ? PartitionField.ofColumn(
                ordinal, fields.fields().get(ordinal), columns.apply(ordinal).dataType())
            : PartitionField.leftOut(fields.fields().get(ordinal)))
        .toArray(PartitionField[]::new));
  }
}
