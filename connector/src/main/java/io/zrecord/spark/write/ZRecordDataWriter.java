package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.write.ShardWriter;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes the rows of one attempt of a task to a shard of its own. */
final class ZRecordDataWriter implements DataWriter<InternalRow> {
  private final Storage storage;
  private final ShardWriter shard;
  private final ColumnValueWriter[] columns;
  private final AbsentValue[] absent;

  /**
   * Makes a writer.
   *
   * @param absent what each field has where its column is null; then the same of the fields that no
   *     column has
   */
  ZRecordDataWriter(
      Storage storage, ShardWriter shard, ColumnValueWriter[] columns, AbsentValue[] absent) {
    this.storage = storage;
    this.shard = shard;
    this.columns = columns;
    this.absent = absent;
  }

  @Override
  public void write(InternalRow row) {
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
    Optional<ShardSummary> written = shard.finish();
    long oldestFileMillis = written
        .filter(summary -> TableCommit.isCheckedByTasks(storage))
        .map(RecordTable.at(storage)::check)
        .orElse(Long.MAX_VALUE);
    return new WrittenShard(written, oldestFileMillis);
  }

  @Override
  public void abort() {
    shard.close();
  }

  /** Called after a commit as well as after an abort; an unfinished shard is deleted. */
  @Override
  public void close() {
    shard.close();
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return WriteMetrics.values(shard.recordCount(), shard.writtenBytes());
  }
}
