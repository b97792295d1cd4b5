package io.zrecord.spark;

import io.zrecord.scan.Verification;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Makes readers on the executors; always columnar. On the driver it keeps what is read from being removed. */
final class ZRecordReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final StructType columns;
  private final int batchRows;
  private final long batchBytes;
  private final Verification verification;

  /** The files of a store's snapshot are removed when nobody refers to it, and an RDD may be all that is left of a query. */
  @SuppressWarnings({"unused", "UnusedVariable"})
  private final transient List<TableSnapshot> snapshots;

  /**
   * For the readers of a scan.
   *
   * @param columns columns to read, among them perhaps {@code _index}
   * @param batchRows rows of a batch at most
   * @param batchBytes bytes of a column in a batch at most, stored and decompressed
   * @param verification when checksums are compared
   * @param snapshots what is read
   */
  ZRecordReaderFactory(
      StructType columns,
      int batchRows,
      long batchBytes,
      Verification verification,
      List<TableSnapshot> snapshots) {
    this.columns = columns;
    this.batchRows = batchRows;
    this.batchBytes = batchBytes;
    this.verification = verification;
    this.snapshots = List.copyOf(snapshots);
  }

  StructType columns() {
    return columns;
  }

  int batchRows() {
    return batchRows;
  }

  long batchBytes() {
    return batchBytes;
  }

  Verification verification() {
    return verification;
  }

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
