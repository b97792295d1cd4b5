package io.zrecord.spark.scan;

import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.options.SamplerPart;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/**
 * Records in the order of a sampler. A place is a position; only the tasks find out which index is
 * at each position.
 */
final class SamplerOrder implements ScanOrder {
  /** Greatest number of splits when no number was asked for. */
  private static final long MAX_SPLITS = 100_000;

  private final TableSnapshot snapshot;
  private final SamplerSpec sampler;
  private final SamplerPart part;
  private final long length;

  /**
   * Creates the order of one dataset.
   *
   * @throws IllegalArgumentException if the sampler does not fit the dataset
   */
  SamplerOrder(TableSnapshot snapshot, SamplerSpec sampler, SamplerPart part) {
    this.snapshot = snapshot;
    this.sampler = withFieldOf(snapshot.schema(), sampler);
    this.part = part;
    this.length =
        part.of(this.sampler.outline(snapshot.length(), snapshot.schema())).length();
  }

  /** Compares the name of the field as Spark compares the names of columns. */
  private static SamplerSpec withFieldOf(RecordSchema schema, SamplerSpec sampler) {
    boolean isCaseSensitive =
        Boolean.parseBoolean(SparkSession.active().conf().get("spark.sql.caseSensitive", "false"));
    if (isCaseSensitive || schema.find(sampler.field()).isPresent()) {
      return sampler;
    }
    List<String> names = schema.fields().stream()
        .map(FieldSpec::name)
        .filter(sampler.field()::equalsIgnoreCase)
        .toList();
    return names.size() == 1
        ? new SamplerSpec(sampler.name(), sampler.seed(), sampler.numbers(), names.get(0))
        : sampler;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public List<Long> versions() {
    return List.of(snapshot.version());
  }

  @Override
  public Set<String> placeColumns() {
    return Set.of(MetadataColumns.POSITION);
  }

  /** Estimates as if every record were read equally often. */
  @Override
  public long estimateBytes(StructType columns, IndexSet places) {
    long all = ScanPlan.estimateBytes(
        snapshot,
        IndexOrder.fields(snapshot, columns).fields(),
        IndexSet.range(0, snapshot.length()));
    return (long) ((double) all / Math.max(1, snapshot.length()) * places.count());
  }

  @Override
  public Division divide(StructType columns, IndexSet places, SplitSizing sizing) {
    List<InputPartition> partitions = new ArrayList<>();
    long count = Math.min(splitCount(columns, places, sizing), places.count());
    long taken = 0;
    for (long i = 0; i < count; i++) {
      long rows = places.count() / count + (i < places.count() % count ? 1 : 0);
      partitions.add(new SampledInputPartition(places.slice(taken, rows)));
      taken += rows;
    }
    long ranges = partitions.stream()
        .mapToLong(partition -> ((SampledInputPartition) partition).positions().rangeCount())
        .sum();
    return new Division(partitions, partitions.isEmpty() ? 0 : snapshot.shards().size(), ranges);
  }

  private long splitCount(StructType columns, IndexSet places, SplitSizing sizing) {
    if (sizing.splitCount() > 0) {
      return sizing.splitCount();
    }
    // A scan that needs no bytes is divided as well.
    long bytes = Math.max(estimateBytes(columns, places), places.count());
    long most = 1 + bytes / sizing.minSplitBytes();
    long least = Math.min(sizing.minimumSplits(), most);
    return Math.min(MAX_SPLITS, Math.max(1 + bytes / sizing.maxSplitBytes(), least));
  }

  @Override
  public PartitionReaderFactory readers(ReadSettings settings) {
    return new SampledReaderFactory(snapshot, sampler, part, settings);
  }

  @Override
  public Optional<IndexSet> drawUnits(TableSample sample) {
    return Optional.empty();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SamplerOrder order
        && SnapshotId.ofRecords(snapshot).equals(SnapshotId.ofRecords(order.snapshot))
        && sampler.equals(order.sampler)
        && part.equals(order.part);
  }

  @Override
  public int hashCode() {
    return Objects.hash(SnapshotId.ofRecords(snapshot), sampler, part);
  }

  @Override
  public String toString() {
    return sampler + ", " + part;
  }
}
