package io.zrecord.spark.rows;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.scan.SnapshotId;
import io.zrecord.table.ChangeBase;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Makes a writer for each attempt of a task. Immutable.
 *
 * @param version the version that the statement reads
 * @param base what tasks must know of the version to change its shards
 * @param columns the columns of the rows
 * @param fields the field of each column
 * @param assigned ordinals of the columns of which updated records get values
 * @param compares whether only values are written that differ from those that are there
 * @param inserts makes writers of new records; null if there are none
 */
record RowWriterFactory(
    SnapshotId version,
    ChangeBase base,
    StructType columns,
    RecordSchema fields,
    List<Integer> assigned,
    boolean compares,
    @Nullable DataWriterFactory inserts)
    implements DeltaWriterFactory {

  @Override
  public DeltaWriter<InternalRow> createWriter(int partitionId, long taskId) {
    ShardChanges changes = new ShardChanges(version, base, columns, fields, assigned, compares);
    return new RowWriter(
        changes, inserts == null ? null : inserts.createWriter(partitionId, taskId));
  }
}
