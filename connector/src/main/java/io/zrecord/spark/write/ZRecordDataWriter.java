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
import org.apache.spark.sql.types.StructType;

/** Writes the rows of one attempt of a task to a shard of its own. */
final class ZRecordDataWriter implements DataWriter<InternalRow> {
  private final Storage storage;
  private final ShardWriter shard;
  private final ColumnValueWriter[] columns;
  private final StructType types;
  private final byte[][] defaults;

  /**
   * Makes a writer.
   *
   * @param types the columns, of which those are not nullable that must have a value
   * @param defaults the values of the fields that follow those of the columns, for every row
   */
  ZRecordDataWriter(
      Storage storage,
      ShardWriter shard,
      ColumnValueWriter[] columns,
      StructType types,
      byte[][] defaults) {
    this.storage = storage;
    this.shard = shard;
    this.columns = columns;
    this.types = types;
    this.defaults = defaults;
  }

  @Override
  public void write(InternalRow row) {
    for (int i = 0; i < columns.length; i++) {
      if (!row.isNullAt(i)) {
        columns[i].write(row, i, shard);
      } else if (!types.fields()[i].nullable()) {
        throw absent(types.fields()[i].name());
      }
    }
    for (int i = 0; i < defaults.length; i++) {
      shard.put(columns.length + i, defaults[i], 0, defaults[i].length);
    }
    shard.endRecord();
  }

  private static IllegalArgumentException absent(String column) {
    return new IllegalArgumentException("Cannot write NULL to the column '" + column
        + "', which is declared NOT NULL; give a value, or drop NOT NULL from the declaration");
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
