package io.zrecord.spark;

import io.zrecord.RecordDataset;
import io.zrecord.scan.FieldReader;
import io.zrecord.scan.IndexSet;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.schema.FieldSpec;
import io.zrecord.storage.Storage;
import io.zrecord.table.ScanPlan;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.jspecify.annotations.Nullable;

/**
 * Reads the slices of a partition, shard by shard. Long ranges are read as ranges; where a slice consists of many short ones, their
 * indices are gathered. The batch and its vectors are used again for the next one. Belongs to one task.
 */
final class ZRecordPartitionReader implements PartitionReader<ColumnarBatch> {
  /** Records of a range below which gathering several ranges at once is cheaper than reading each. */
  private static final int SHORT_RANGE_RECORDS = 64;

  /** Of the first batch that is gathered; later ones have as many rows as their size allows. */
  private static final int FIRST_ROWS = 64;

  private static final int GROWTH = 4;

  private final ZRecordInputPartition partition;
  private final ZRecordReaderFactory factory;
  private final Storage storage;
  private final ReadMetrics metrics = new ReadMetrics();
  private final FieldColumn[] fieldColumns;
  private final IndexVector indexVector = new IndexVector();
  private final ColumnarBatch batch;
  private final long[] gathered;
  private int gatherRows = FIRST_ROWS;
  private int nextSlice;
  private @Nullable RecordDataset shard;
  private IndexSet indices = IndexSet.empty();
  private long sliceFirstIndex;
  private int range;
  private long nextIndex;
  private long recordCount;

  ZRecordPartitionReader(ZRecordInputPartition partition, ZRecordReaderFactory factory) {
    this.partition = partition;
    this.factory = factory;
    this.storage = SparkStorages.storageFor(partition.location());
    this.gathered = new long[factory.batchRows()];
    List<FieldColumn> columns = new ArrayList<>();
    List<ColumnVector> vectors = new ArrayList<>();
    for (String name : factory.columns().fieldNames()) {
      if (name.equals(ZRecordTable.INDEX_COLUMN)) {
        vectors.add(indexVector);
      } else {
        FieldSpec field = partition.fields().fields().get(columns.size());
        FieldColumn column = FieldColumns.of(field);
        columns.add(column);
        vectors.add(column.vector());
      }
    }
    this.fieldColumns = columns.toArray(FieldColumn[]::new);
    this.batch = new ColumnarBatch(vectors.toArray(ColumnVector[]::new));
  }

  @Override
  public boolean next() {
    while (range >= indices.rangeCount()) {
      if (nextSlice >= partition.slices().size()) {
        return false;
      }
      openSlice(partition.slices().get(nextSlice++));
    }
    boolean isShort = indices.count() / indices.rangeCount() < SHORT_RANGE_RECORDS;
    int rows = isShort ? gather() : readRange();
    batch.setNumRows(rows);
    recordCount += rows;
    return true;
  }

  @Override
  public ColumnarBatch get() {
    return batch;
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return ScanMetrics.ofTask(recordCount, metrics);
  }

  @Override
  public void close() {
    closeShard();
    batch.close();
  }

  private void openSlice(ScanPlan.ShardSlice slice) {
    closeShard();
    RecordDataset opened = RecordDataset.openShard(
        storage,
        partition.fields(),
        slice.shard(),
        new RecordDataset.ReadOptions(factory.verification(), metrics));
    shard = opened;
    for (int i = 0; i < fieldColumns.length; i++) {
      fieldColumns[i].open(opened.reader(partition.fields().fields().get(i).name()));
    }
    sliceFirstIndex = partition.firstIndex() + slice.firstIndex();
    indices = slice.indices();
    range = 0;
    nextIndex = indices.isEmpty() ? 0 : indices.rangeFrom(0);
  }

  private int readRange() {
    long first = nextIndex;
    int rows = (int) Math.min(factory.batchRows(), indices.rangeTo(range) - first);
    // The column with the largest values decides how many rows fit.
    for (FieldColumn column : fieldColumns) {
      column.reader().selectRange(first, rows, factory.batchBytes());
      rows = rowsThatFit(column.reader());
    }
    for (FieldColumn column : fieldColumns) {
      FieldReader reader = column.reader();
      if (reader.count() != rows) {
        reader.selectRange(first, rows, Long.MAX_VALUE);
      }
      column.load();
    }
    indexVector.setRange(sliceFirstIndex + first);
    advanceTo(first + rows);
    return rows;
  }

  private int gather() {
    int rows = collectIndices();
    for (FieldColumn column : fieldColumns) {
      column.reader().select(gathered, 0, rows);
      rows = rowsThatFit(column.reader());
    }
    for (FieldColumn column : fieldColumns) {
      if (column.reader().count() != rows) {
        column.reader().select(gathered, 0, rows);
      }
      column.load();
    }
    gatherRows = nextGatherRows(rows);
    indexVector.setList(sliceFirstIndex, gathered);
    for (int row = 0; row < rows; row++) {
      advanceTo(gathered[row] + 1);
    }
    return rows;
  }

  /** What is selected and does not fit was looked up, and verified, in vain: so as many rows as will fit. */
  private int nextGatherRows(int rows) {
    long bytes = 1;
    for (FieldColumn column : fieldColumns) {
      bytes = Math.max(bytes, column.reader().totalLengthBytes());
    }
    long fitting = Math.max(1, (long) (rows * (double) factory.batchBytes() / bytes));
    return (int) Math.min(Math.min(fitting, (long) rows * GROWTH), gathered.length);
  }

  /** Takes down what comes next, as many as are to be gathered at most. */
  private int collectIndices() {
    int rows = 0;
    int most = Math.min(gatherRows, gathered.length);
    long index = nextIndex;
    for (int r = range; r < indices.rangeCount() && rows < most; r++) {
      index = Math.max(index, indices.rangeFrom(r));
      while (index < indices.rangeTo(r) && rows < most) {
        gathered[rows++] = index++;
      }
    }
    return rows;
  }

  /** How many of the selected values are within the batch's bytes when they are decompressed; one at least. */
  private int rowsThatFit(FieldReader reader) {
    if (reader.totalLengthBytes() <= factory.batchBytes()) {
      return reader.count();
    }
    if (reader.field().valueWidthBytes().isPresent()) {
      return (int)
          Math.max(1, factory.batchBytes() / reader.field().valueWidthBytes().getAsInt());
    }
    long bytes = reader.lengthBytes(0);
    int rows = 1;
    while (rows < reader.count() && (bytes += reader.lengthBytes(rows)) <= factory.batchBytes()) {
      rows++;
    }
    return rows;
  }

  private void advanceTo(long index) {
    nextIndex = index;
    if (index >= indices.rangeTo(range)) {
      range++;
      if (range < indices.rangeCount()) {
        nextIndex = indices.rangeFrom(range);
      }
    }
  }

  private void closeShard() {
    if (shard != null) {
      shard.close();
      shard = null;
    }
  }
}
