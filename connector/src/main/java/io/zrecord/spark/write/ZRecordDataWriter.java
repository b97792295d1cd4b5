package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes the rows of one attempt of a task to shards of its own. */
final class ZRecordDataWriter implements DataWriter<InternalRow> {
  private final Storage storage;
  private final TaskShards shards;
  private final ColumnValueWriter[] columns;
  private final AbsentValue[] absent;

  /**
   * Makes a writer.
   *
   * @param absent what each field has where its column is null; then the same of the fields that no
   *     column has
   */
  ZRecordDataWriter(
      Storage storage, TaskShards shards, ColumnValueWriter[] columns, AbsentValue[] absent) {
    this.storage = storage;
    this.shards = shards;
    this.columns = columns;
    this.absent = absent;
  }

  @Override
  public void write(InternalRow row) {
    ShardWriter shard = shards.shardOf(row);
    for (int i = 0; i < absent.length; i++) {
      if (i < columns.length && !row.isNullAt(i)) {
        columns[i].write(row, i, shard);
      } else {
        absent[i].put(shard, i);
      }
    }
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
