package io.zrecord.spark;

import io.zrecord.scan.Verification;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Makes readers on the executors; always columnar.
 *
 * @param columns columns to read, among them perhaps {@code _index}
 * @param batchRows rows of a batch at most
 * @param batchBytes bytes of a column in a batch at most, stored and decompressed
 * @param verification when checksums are compared
 */
record ZRecordReaderFactory(
    StructType columns, int batchRows, long batchBytes, Verification verification)
    implements PartitionReaderFactory {

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    throw new UnsupportedOperationException("zrecord is read in columnar batches only");
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    return new ZRecordPartitionReader((ZRecordInputPartition) partition, this);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }
}
