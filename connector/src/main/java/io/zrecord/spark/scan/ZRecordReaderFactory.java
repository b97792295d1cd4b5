package io.zrecord.spark.scan;

import io.zrecord.schema.RecordSchema;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Makes readers on the executors, always columnar. On the driver, keeps the files that are read
 * from being removed.
 */
final class ZRecordReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final ReadSettings settings;
  private final ArrayList<RecordSchema> fields;

  /**
   * Snapshots to keep. The files of a store's snapshot are removed when nothing refers to it, and
   * an RDD may be all that is left of a query.
   */
  @SuppressWarnings({"unused", "UnusedVariable"})
  private final transient List<TableSnapshot> snapshots;

  /**
   * Creates a factory for a scan.
   *
   * @param fields the fields to read of each snapshot
   */
  ZRecordReaderFactory(
      ReadSettings settings, List<RecordSchema> fields, List<TableSnapshot> snapshots) {
    this.settings = settings;
    this.fields = new ArrayList<>(fields);
    this.snapshots = List.copyOf(snapshots);
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    throw new UnsupportedOperationException("zrecord is read in columnar batches only");
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    ZRecordInputPartition part = partition instanceof KeyedInputPartition keyed
        ? keyed.part()
        : (ZRecordInputPartition) partition;
    return new ZRecordPartitionReader(part, fields.get(part.dataset()), settings);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }
}
