package io.zrecord.spark.view;

import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;

/**
 * A scan of some columns of a view. The driver divides shards or versions, and tasks read them.
 * Lives on the driver.
 */
final class ViewScan implements ScanBuilder, SupportsPushDownRequiredColumns, Scan, Batch {
  private final ViewedDataset dataset;
  private final int partitionCount;
  private StructType columns;

  /** @param partitionCount 0: automatic */
  ViewScan(ViewedDataset dataset, int partitionCount) {
    this.dataset = dataset;
    this.partitionCount = partitionCount;
    this.columns = ViewRows.schema(dataset.view());
  }

  @Override
  public void pruneColumns(StructType requiredColumns) {
    columns = requiredColumns;
  }

  @Override
  public Scan build() {
    return this;
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    return dataset.name() + " " + columns.catalogString();
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return SparkErrors.planned(this::partitions);
  }

  private InputPartition[] partitions() {
    TableSnapshot snapshot = dataset.snapshot();
    TableLocation location = TableLocation.of(snapshot.storage());
    List<InputPartition> partitions = new ArrayList<>();
    if (dataset.view() == ViewName.VERSIONS) {
      List<Long> versions = RecordTable.at(snapshot.storage()).versions();
      for (int[] part : parts(versions.size())) {
        partitions.add(new ViewPartition.OfVersions(
            location, List.copyOf(versions.subList(part[0], part[1]))));
      }
    } else {
      if (dataset.view() == ViewName.FILES) {
        partitions.add(new ViewPartition.OfVersions(location, List.of(snapshot.version())));
        snapshot
            .indexMap()
            .map(map -> new ViewPartition.OfShards(
                location,
                ViewPartition.Fields.OF_INDEX_MAPS,
                List.of(map.shard().withoutSizes()),
                0,
                dataset.isStore()))
            .ifPresent(partitions::add);
      }
      List<ShardSummary> shards = snapshot.shards();
      for (int[] part : parts(shards.size())) {
        partitions.add(new ViewPartition.OfShards(
            location,
            ViewPartition.Fields.OF_DATASET,
            shards.subList(part[0], part[1]).stream()
                .map(ShardSummary::withoutSizes)
                .toList(),
            snapshot.firstIndex(part[0]),
            dataset.isStore()));
      }
    }
    return partitions.toArray(InputPartition[]::new);
  }

  /** Divides {@code count} things into parts of about equal size. */
  private List<int[]> parts(int count) {
    int wanted = partitionCount > 0
        ? partitionCount
        : 2 * SparkSession.active().sparkContext().defaultParallelism();
    int partCount = Math.min(count, wanted);
    List<int[]> parts = new ArrayList<>();
    for (int i = 0; i < partCount; i++) {
      parts.add(new int[] {
        (int) ((long) count * i / partCount), (int) ((long) count * (i + 1) / partCount)
      });
    }
    return parts;
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return SparkErrors.planned(
        () -> new ViewReaderFactory(dataset.view(), columns, dataset.snapshot()));
  }

  /** Tells whether the other scan reads the same columns of the same view of the same version. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ViewScan scan
        && partitionCount == scan.partitionCount
        && dataset.equals(scan.dataset)
        && columns.equals(scan.columns);
  }

  @Override
  public int hashCode() {
    return Objects.hash(dataset, columns, partitionCount);
  }
}
