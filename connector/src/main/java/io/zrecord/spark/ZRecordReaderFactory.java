package io.zrecord.spark;

import io.zrecord.table.TableSnapshot;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Makes readers on the executors; always columnar. On the driver it keeps what is read from being removed. */
final class ZRecordReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final ReadSettings settings;

  /** The files of a store's snapshot are removed when nobody refers to it, and an RDD may be all that is left of a query. */
  @SuppressWarnings({"unused", "UnusedVariable"})
  private final transient List<TableSnapshot> snapshots;

  /** For the readers of a scan of these snapshots. */
  ZRecordReaderFactory(ReadSettings settings, List<TableSnapshot> snapshots) {
    this.settings = settings;
    this.snapshots = List.copyOf(snapshots);
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    throw new UnsupportedOperationException("zrecord is read in columnar batches only");
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    return new ZRecordPartitionReader((ZRecordInputPartition) partition, settings);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }
}
