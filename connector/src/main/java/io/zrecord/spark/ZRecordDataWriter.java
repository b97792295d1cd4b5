package io.zrecord.spark;

import io.zrecord.table.ShardWriter;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Writes the rows of one attempt of a task to a shard of its own. */
final class ZRecordDataWriter implements DataWriter<InternalRow> {
  private final ShardWriter shard;
  private final ColumnValueWriter[] columns;

  ZRecordDataWriter(ShardWriter shard, ColumnValueWriter[] columns) {
    this.shard = shard;
    this.columns = columns;
  }

  @Override
  public void write(InternalRow row) {
    for (int i = 0; i < columns.length; i++) {
      if (!row.isNullAt(i)) {
        columns[i].write(row, i, shard);
      }
    }
    shard.endRecord();
  }

  @Override
  public WriterCommitMessage commit() {
    return new WrittenShard(shard.finish());
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
