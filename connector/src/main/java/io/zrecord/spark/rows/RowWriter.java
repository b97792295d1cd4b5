package io.zrecord.spark.rows;

import io.zrecord.spark.write.ZRecordDataWriter;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.jspecify.annotations.Nullable;

/**
 * Writes what one attempt of a task changes: deleted and updated records to changes of their
 * shards, new records and those of another partition to shards of their own.
 */
final class RowWriter implements DeltaWriter<InternalRow> {
  private final ShardChanges changes;
  private final @Nullable ZRecordDataWriter inserts;
  private long deletedRows;
  private long updatedRows;
  private long movedRows;
  private long insertedRows;

  /** @param inserts takes new and moved records; null if there are none */
  RowWriter(ShardChanges changes, @Nullable ZRecordDataWriter inserts) {
    this.changes = changes;
    this.inserts = inserts;
  }

  @Override
  public void delete(InternalRow metadata, InternalRow id) {
    changes.delete(id.getLong(0));
    deletedRows++;
  }

  @Override
  public void update(InternalRow metadata, InternalRow id, InternalRow row) {
    Place before = changes.update(id.getLong(0), row);
    if (before == null) {
      updatedRows++;
    } else {
      inserts().move(row, before.shard(), before.slot());
      movedRows++;
    }
  }

  @Override
  public void insert(InternalRow row) {
    inserts().write(row);
    insertedRows++;
  }

  private ZRecordDataWriter inserts() {
    if (inserts == null) {
      throw new IllegalStateException("The statement was planned without new records");
    }
    return inserts;
  }

  @Override
  public WriterCommitMessage commit() {
    WriterCommitMessage written = inserts == null ? null : inserts.commit();
    return new WrittenRows(changes.finish(), written, insertedRows > 0);
  }

  @Override
  public void abort() {
    changes.abandon();
    if (inserts != null) {
      inserts.abort();
    }
  }

  /** Called after a commit as well as after an abort. */
  @Override
  public void close() {
    changes.close();
    if (inserts != null) {
      inserts.close();
    }
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return Stream.concat(
            Arrays.stream(RowMetrics.ofRows(deletedRows, updatedRows, movedRows, insertedRows)),
            Arrays.stream(changes.counts().metrics()))
        .toArray(CustomTaskMetric[]::new);
  }
}
