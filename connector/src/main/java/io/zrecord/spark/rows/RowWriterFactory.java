package io.zrecord.spark.rows;

import io.zrecord.spark.write.ZRecordWriterFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.jspecify.annotations.Nullable;

/**
 * Makes a writer for each attempt of a task. Immutable.
 *
 * @param plan what the tasks know
 * @param inserts makes writers of new and moved records; null if there are none
 */
record RowWriterFactory(RowPlan plan, @Nullable ZRecordWriterFactory inserts)
    implements DeltaWriterFactory {

  @Override
  public DeltaWriter<InternalRow> createWriter(int partitionId, long taskId) {
    return new RowWriter(
        new ShardChanges(plan), inserts == null ? null : inserts.createWriter(partitionId, taskId));
  }
}
