package io.zrecord.spark.rows;

import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.jspecify.annotations.Nullable;

/**
 * Writes what one attempt of a task changes: deleted and updated records to changes of their
 * shards, new records to shards of their own.
 */
final class RowWriter implements DeltaWriter<InternalRow> {
  private final ShardChanges changes;
  private final @Nullable DataWriter<InternalRow> inserts;
  private long deletedRows;
  private long updatedRows;
  private long insertedRows;

  /** @param inserts takes new records; null if there are none */
  RowWriter(ShardChanges changes, @Nullable DataWriter<InternalRow> inserts) {
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
    changes.update(id.getLong(0), row);
    updatedRows++;
  }

  @Override
  public void insert(InternalRow row) throws IOException {
    if (inserts == null) {
      throw new IllegalStateException("The statement was planned without new records");
    }
    inserts.write(row);
    insertedRows++;
  }

  @Override
  public WriterCommitMessage commit() throws IOException {
    WriterCommitMessage inserted = inserts == null ? null : inserts.commit();
    return new WrittenRows(changes.finish(), inserted);
  }

  @Override
  public void abort() throws IOException {
    changes.abandon();
    if (inserts != null) {
      inserts.abort();
    }
  }

  /** Called after a commit as well as after an abort. */
  @Override
  public void close() throws IOException {
    changes.close();
    if (inserts != null) {
      inserts.close();
    }
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return RowMetrics.values(deletedRows, updatedRows, insertedRows);
  }
}
