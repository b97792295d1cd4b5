package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.changes.ShardFields;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ReadMetrics;
import io.zrecord.scan.ScanPlan;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.jspecify.annotations.Nullable;

/**
 * Reads the slices of a partition, shard by shard. Reads long ranges as ranges. Gathers indices if
 * a slice consists of many short ranges, or if a sample is drawn from the slice. Passes over
 * records that cannot meet the scan's conditions. Belongs to one task.
 */
public final class ZRecordPartitionReader implements PartitionReader<ColumnarBatch> {
  /**
   * Average length of ranges below which gathering several ranges at once is cheaper than reading
   * each.
   */
  private static final int SHORT_RANGE_RECORDS = 64;

  private final ZRecordInputPartition partition;
  private final RecordSchema fields;
  private final ReadSettings settings;
  private final Storage storage;
  private final ReadMetrics metrics = new ReadMetrics();
  private final BatchColumns columns;
  private final ValueFilter filter;
  private int nextSlice;
  private @Nullable RecordDataset shard;
  private long sliceFirstIndex;

  /** Records of the slice that may meet the conditions, and how many of them were looked at. */
  private IndexSet candidates = IndexSet.empty();

  private long lookedAt;
  private IndexSet indices = IndexSet.empty();
  /** Range of the next record, if ranges are read. */
  private int range;

  private long nextIndex;
  /** Source of the indices to gather; null if ranges are read. */
  private @Nullable PlaceCursor cursor;

  private int gathered;
  private long recordCount;
  private long skippedCount;

  /**
   * Creates a reader of a partition.
   *
   * @param fields the fields of the columns, in the same order
   */
  public ZRecordPartitionReader(
      ZRecordInputPartition partition, RecordSchema fields, ReadSettings settings) {
    this.partition = partition;
    this.fields = fields;
    this.settings = settings;
    this.storage = partition.location().storage();
    this.columns = new BatchColumns(settings, fields);
    this.filter = new ValueFilter(settings);
  }

  @Override
  public boolean next() {
    int rows = loadNext();
    while (rows == 0 && openNext()) {
      rows = loadNext();
    }
    recordCount += rows;
    return rows > 0;
  }

  @Override
  public ColumnarBatch get() {
    return columns.batch();
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return ScanMetrics.ofTask(recordCount, skippedCount, metrics);
  }

  @Override
  public void close() {
    closeShard();
    columns.batch().close();
  }

  private void openSlice(ScanPlan.ShardSlice slice) {
    closeShard();
    RecordSchema read =
        settings.wider() == null ? fields : ShardFields.widest(storage, fields, slice.shard());
    RecordDataset opened = RecordDataset.openShard(
        storage,
        read,
        slice.shard(),
        new RecordDataset.ReadOptions(settings.verification(), metrics));
    shard = opened;
    columns.open(opened);
    sliceFirstIndex = partition.firstIndex() + slice.firstIndex();
    columns.shards().setAll(sliceFirstIndex);
    candidates = filter.open(opened, slice.indices(), read.equals(fields));
    lookedAt = 0;
    indices = IndexSet.empty();
    range = 0;
    cursor = null;
    skippedCount += slice.indices().count() - candidates.count();
  }

  /** Goes on to records that may meet the conditions. Returns false if there are no more. */
  private boolean openNext() {
    if (lookedAt < candidates.count()) {
      openPart();
      return true;
    }
    if (nextSlice < partition.slices().size()) {
      columns.versions().set(partition.versions().get(nextSlice));
      openSlice(partition.slices().get(nextSlice++));
      return true;
    }
    return false;
  }

  private void openPart() {
    IndexSet part = candidates.count() <= filter.partRecords()
        ? candidates
        : candidates.slice(lookedAt, filter.partRecords());
    lookedAt += part.count();
    indices = filter.search(part);
    skippedCount += part.count() - indices.count();
    range = 0;
    nextIndex = indices.isEmpty() ? 0 : indices.rangeFrom(0);
    boolean isShort = indices.count() < (long) SHORT_RANGE_RECORDS * indices.rangeCount();
    cursor =
        isShort || settings.sample() != null ? settings.cursor(indices, sliceFirstIndex) : null;
    gathered = 0;
  }

  /** Makes the next batch of the part. Returns its rows, 0 if there are no more. */
  private int loadNext() {
    if (cursor != null) {
      return gather(cursor);
    }
    return range < indices.rangeCount() ? readRange() : 0;
  }

  private int readRange() {
    long first = nextIndex;
    int rows = columns.loadRange(first, indices.rangeTo(range) - first);
    columns.indices().setRange(sliceFirstIndex + first);
    columns.positions().setRange(sliceFirstIndex + first);
    nextIndex = first + rows;
    if (nextIndex >= indices.rangeTo(range) && ++range < indices.rangeCount()) {
      nextIndex = indices.rangeFrom(range);
    }
    return rows;
  }

  private int gather(PlaceCursor places) {
    places.skip(gathered);
    gathered = 0;
    int count = places.peek(columns.gatherRows());
    if (count > 0) {
      gathered = columns.gather(places.places(), count);
      columns.indices().setList(sliceFirstIndex, places.places());
      columns.positions().setList(sliceFirstIndex, places.places());
    }
    return gathered;
  }

  private void closeShard() {
    if (shard != null) {
      shard.close();
      shard = null;
    }
  }
}
