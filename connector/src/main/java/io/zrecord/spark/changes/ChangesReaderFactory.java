package io.zrecord.spark.changes;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.scan.ReadSettings;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Makes readers in tasks. Immutable.
 *
 * @param columns the columns of the rows
 * @param fields the fields of those that are the table's
 * @param settings how to read these
 */
record ChangesReaderFactory(StructType columns, RecordSchema fields, ReadSettings settings)
    implements PartitionReaderFactory {
  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    throw new UnsupportedOperationException("zrecord is read in columnar batches only");
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    return new ChangesReader((ChangesPartition) partition, columns, fields, settings);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }
}
