package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/**
 * The order of records by their index, for several datasets one after the other. A place is an
 * index.
 */
public final class IndexOrder implements ScanOrder {
  private final List<TableSnapshot> snapshots;
  private final List<SnapshotId> records;

  public IndexOrder(List<TableSnapshot> snapshots) {
    this.snapshots = List.copyOf(snapshots);
    this.records = snapshots.stream().map(SnapshotId::ofRecords).toList();
  }

  @Override
  public long length() {
    return snapshots.stream().mapToLong(TableSnapshot::length).sum();
  }

  @Override
  public List<Long> versions() {
    return snapshots.stream().map(TableSnapshot::version).toList();
  }

  @Override
  public Set<String> placeColumns() {
    return MetadataColumns.PLACES;
  }

  @Override
  public Optional<ShardStarts> shardStarts() {
    return Optional.of(new ShardStarts(snapshots));
  }

  @Override
  public long estimateBytes(StructType columns, IndexSet places) {
    long bytes = 0;
    long first = 0;
    for (TableSnapshot snapshot : snapshots) {
      bytes += ScanPlan.estimateBytes(
          snapshot, fields(snapshot, columns).fields(), within(places, first, snapshot));
      first += snapshot.length();
    }
    return bytes;
  }

  @Override
  public Division divide(StructType columns, IndexSet places, SplitSizing sizing) {
    List<InputPartition> partitions = new ArrayList<>();
    long first = 0;
    long shards = 0;
    long ranges = 0;
    for (int dataset = 0; dataset < snapshots.size(); dataset++) {
      TableSnapshot snapshot = snapshots.get(dataset);
      RecordSchema fields = fields(snapshot, columns);
      TableLocation storage = TableLocation.of(snapshot.storage());
      for (ScanPlan.Split split :
          ScanPlan.divide(snapshot, fields.fields(), within(places, first, snapshot), sizing)) {
        List<ScanPlan.ShardSlice> slices =
            split.slices().stream().map(IndexOrder::withoutSizes).toList();
        partitions.add(
            new ZRecordInputPartition(storage, dataset, first, slices, snapshot.version()));
        shards += split.slices().size();
        for (ScanPlan.ShardSlice slice : split.slices()) {
          ranges += slice.indices().rangeCount();
        }
      }
      first += snapshot.length();
    }
    return new Division(partitions, shards, ranges);
  }

  /**
   * Removes the sizes. A task plans nothing, and the sizes of thousands of fields would make the
   * task large.
   */
  private static ScanPlan.ShardSlice withoutSizes(ScanPlan.ShardSlice slice) {
    return new ScanPlan.ShardSlice(
        slice.shard().withoutSizes(), slice.firstIndex(), slice.indices());
  }

  @Override
  public PartitionReaderFactory readers(ReadSettings settings) {
    List<RecordSchema> fields =
        snapshots.stream().map(snapshot -> fields(snapshot, settings.columns())).toList();
    return new ZRecordReaderFactory(settings, fields, snapshots);
  }

  /**
   * Draws ranges of indices, which are the units: each shard is divided evenly into as many ranges
   * as it has chunks.
   */
  @Override
  public Optional<IndexSet> drawUnits(TableSample sample) {
    TableSample.Drawing drawing = sample.drawing();
    IndexSet.Builder drawn = new IndexSet.Builder();
    long[] none = new long[1];
    long ordinal = 0;
    long first = 0;
    for (TableSnapshot snapshot : snapshots) {
      for (ShardSummary shard : snapshot.shards()) {
        int units = (int) Math.max(1, Math.min(shard.chunkCount(), shard.length()));
        for (int unit = 0; unit < units; unit++) {
          if (drawing.draw(ordinal++, 1, 0, none, 0) > 0) {
            drawn.add(
                first + cut(shard.length(), unit, units),
                first + cut(shard.length(), unit + 1, units));
          }
        }
        first += shard.length();
      }
    }
    return Optional.of(drawn.build());
  }

  /** Returns {@code length · unit / units} without overflow. */
  private static long cut(long length, int unit, int units) {
    return length / units * unit + length % units * unit / units;
  }

  /** Returns the indices that are in a snapshot, counted from its start. */
  private static IndexSet within(IndexSet indices, long first, TableSnapshot snapshot) {
    return indices.intersect(IndexSet.range(first, first + snapshot.length())).shift(-first);
  }

  /** Returns the fields to read, in the order of the columns, without their attributes. */
  public static RecordSchema fields(TableSnapshot snapshot, StructType columns) {
    Map<String, FieldSpec> byName = new HashMap<>();
    snapshot.schema().fields().forEach(field -> byName.put(field.name(), field));
    List<FieldSpec> fields = new ArrayList<>();
    for (String name : columns.fieldNames()) {
      if (!MetadataColumns.NAMES.contains(name)) {
        FieldSpec field = byName.get(name);
        fields.add(
            field == null
                ? snapshot.schema().fields().get(snapshot.schema().ordinal(name))
                : field.withoutAttributes());
      }
    }
    return new RecordSchema(fields);
  }

  /** Tells whether the other order has the same records. */
  @Override
  public boolean equals(Object other) {
    return other instanceof IndexOrder order && records.equals(order.records);
  }

  @Override
  public int hashCode() {
    return records.hashCode();
  }

  @Override
  public String toString() {
    return "the index";
  }
}
