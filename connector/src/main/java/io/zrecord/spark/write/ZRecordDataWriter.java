package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes the rows of one attempt of a task to shards of its own. Belongs to one thread. */
public final class ZRecordDataWriter implements DataWriter<InternalRow> {
  private final Storage storage;
  private final TaskShards shards;
  private final RowFields added;
  private final RowFields moved;

  /**
   * Makes a writer.
   *
   * @param added puts values into new records
   * @param moved the same for records that were elsewhere in the table, which keep their numbers
   */
  ZRecordDataWriter(Storage storage, TaskShards shards, RowFields added, RowFields moved) {
    this.storage = storage;
    this.shards = shards;
    this.added = added;
    this.moved = moved;
  }

  /** Writes a new record. */
  @Override
  public void write(InternalRow row) {
    ShardWriter shard = shards.shardOf(row);
    added.write(row, shard);
    shard.endRecord();
  }

  /**
   * Writes a record that the same commit deletes elsewhere in the table.
   *
   * @param from identity of the shard that has the record
   * @param slot of the record there, as {@link io.zrecord.table.ShardChangeWriter#slotOf} says
   */
  public void move(InternalRow row, UUID from, long slot) {
    ShardWriter shard = shards.shardOf(row);
    moved.write(row, shard);
    shard.movedFrom(from, slot);
    shard.endRecord();
  }

  @Override
  public WriterCommitMessage commit() {
    List<ShardSummary> written = shards.finish();
    long oldestFileMillis = TableCommit.isCheckedByTasks(storage)
        ? written.stream().mapToLong(RecordTable.at(storage)::check).min().orElse(Long.MAX_VALUE)
        : Long.MAX_VALUE;
    return new WrittenShards(written, oldestFileMillis);
  }

  @Override
  public void abort() {
    shards.discard();
  }

  /** Called after a commit as well as after an abort; unfinished shards are deleted. */
  @Override
  public void close() {
    shards.close();
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return WriteMetrics.values(shards.recordCount(), shards.writtenBytes());
  }
}
