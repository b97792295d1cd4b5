package io.zrecord.spark.metadata;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.UnreadableField;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.column.WholeColumns;
import io.zrecord.spark.metadata.MetadataRows.FieldOfVersion;
import io.zrecord.spark.metadata.MetadataRows.Partition;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.partition.PartitionValues;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * A scan of some columns of a metadata table. The driver divides shards or versions, and tasks read
 * them. What a manifest or the lists of shards say is read on the driver. Lives on the driver.
 */
final class MetadataScan implements ScanBuilder, SupportsPushDownRequiredColumns, Scan, Batch {
  /** Most shards, versions or rows of a partition. A shard takes a few hundred bytes. */
  private static final int MOST_OF_PARTITION = 1000;

  /** Columns that need what a list says of each field of a shard. */
  private static final String SIZES = "value_bytes";

  private final DescribedVersion described;
  private final int partitionCount;
  private StructType columns;

  /** @param partitionCount 0: automatic */
  MetadataScan(DescribedVersion described, int partitionCount) {
    this.described = described;
    this.partitionCount = partitionCount;
    this.columns = described.columns();
  }

  @Override
  public void pruneColumns(StructType requiredColumns) {
    columns = WholeColumns.of(described.columns(), requiredColumns);
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
    return described.name() + " " + columns.catalogString();
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return SparkErrors.planned(() -> described
        .snapshot()
        .map(this::partitions)
        .orElse(List.of())
        .toArray(InputPartition[]::new));
  }

  private List<InputPartition> partitions(TableSnapshot snapshot) {
    return switch (described.table()) {
      case VERSIONS -> ofVersions(snapshot);
      case TAGS ->
        ofRows(RecordTable.at(snapshot.storage()).tags().stream()
            .map(MetadataRows.TAGS.rows(columns))
            .toList());
      case FIELDS ->
        ofRows(fields(snapshot).stream().map(MetadataRows.FIELDS.rows(columns)).toList());
      case PARTITIONS ->
        ofRows(partitionsOf(snapshot).stream()
            .map(described.rows().partitions().rows(columns))
            .toList());
      case FILES -> ofFiles(snapshot);
      case SHARDS, CHUNKS, SHARD_USAGE, FIELD_USAGE -> ofShards(snapshot);
    };
  }

  private List<InputPartition> ofVersions(TableSnapshot snapshot) {
    List<Long> versions = RecordTable.at(snapshot.storage()).versions();
    TableLocation location = TableLocation.of(snapshot.storage());
    return parts(versions.size(), MOST_OF_PARTITION).stream()
        .<InputPartition>map(part -> new MetadataPartition.OfVersions(
            location, List.copyOf(versions.subList(part.from(), part.to()))))
        .toList();
  }

  private List<InputPartition> ofRows(List<InternalRow> rows) {
    return parts(rows.size(), MOST_OF_PARTITION).stream()
        .<InputPartition>map(part ->
            new MetadataPartition.OfRows(new ArrayList<>(rows.subList(part.from(), part.to()))))
        .toList();
  }

  private static List<FieldOfVersion> fields(TableSnapshot snapshot) {
    List<FieldOfVersion> fields = new ArrayList<>();
    for (FieldSpec field : snapshot.schema().fields()) {
      fields.add(FieldOfVersion.of(fields.size(), field));
    }
    for (UnreadableField field : snapshot.schema().unreadable()) {
      fields.add(FieldOfVersion.of(fields.size(), field));
    }
    return fields;
  }

  private static List<Partition> partitionsOf(TableSnapshot snapshot) {
    Map<List<@Nullable String>, Partition> partitions = new HashMap<>();
    for (ShardSummary shard : shardsOf(snapshot)) {
      Partition none = new Partition(shard.partition(), 0, 0, 0, 0);
      partitions.merge(shard.partition(), none.plus(shard), (known, added) -> known.plus(shard));
    }
    return PartitionValues.sorted(
        snapshot.partitionFields(), partitions.values(), Partition::values);
  }

  /** Returns the shards, whose lists are read several at a time. */
  private static List<ShardSummary> shardsOf(TableSnapshot snapshot) {
    snapshot.loadShards(IndexSet.range(0, snapshot.length()));
    return snapshot.shards();
  }

  private List<InputPartition> ofFiles(TableSnapshot snapshot) {
    TableLocation location = TableLocation.of(snapshot.storage());
    List<InputPartition> partitions = new ArrayList<>();
    partitions.add(new MetadataPartition.OfVersions(location, List.of(snapshot.version())));
    snapshot
        .indexMap()
        .map(map -> new MetadataPartition.OfShards(
            location,
            MetadataPartition.Fields.OF_INDEX_MAPS,
            List.of(map.shard().withoutSizes()),
            0,
            0,
            described.isStore()))
        .ifPresent(partitions::add);
    partitions.addAll(ofShards(snapshot));
    return partitions;
  }

  private List<InputPartition> ofShards(TableSnapshot snapshot) {
    TableLocation location = TableLocation.of(snapshot.storage());
    boolean needsSizes = described.table() == ViewName.SHARDS
        && Arrays.asList(columns.fieldNames()).contains(SIZES);
    int sizes = needsSizes ? snapshot.schema().fields().size() : 0;
    List<ShardSummary> shards = shardsOf(snapshot);
    return parts(shards.size(), Math.max(1, MOST_OF_PARTITION / (1 + sizes / 10))).stream()
        .<InputPartition>map(part -> new MetadataPartition.OfShards(
            location,
            MetadataPartition.Fields.OF_DATASET,
            shards.subList(part.from(), part.to()).stream()
                .map(shard -> needsSizes ? shard : shard.withoutSizes())
                .toList(),
            part.from(),
            snapshot.firstIndex(part.from()),
            described.isStore()))
        .toList();
  }

  /**
   * Some of several things.
   *
   * @param from the first
   * @param to the one after the last
   */
  private record Part(int from, int to) {}

  /**
   * Divides {@code count} things into parts of about equal size.
   *
   * @param most most things of a part, unless an option says how many parts there are
   */
  private List<Part> parts(int count, int most) {
    int wanted = partitionCount > 0
        ? partitionCount
        : Math.max(
            2 * SparkSession.active().sparkContext().defaultParallelism(),
            (count + most - 1) / most);
    int partCount = Math.min(count, wanted);
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < partCount; i++) {
      parts.add(new Part(
          (int) ((long) count * i / partCount), (int) ((long) count * (i + 1) / partCount)));
    }
    return parts;
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return SparkErrors.planned(() -> new MetadataReaderFactory(
        described.table(), columns, described.rows(), described.snapshot()));
  }

  /** Tells whether the other scan reads the same columns of the same metadata table. */
  @Override
  public boolean equals(Object other) {
    return other instanceof MetadataScan scan
        && partitionCount == scan.partitionCount
        && described.equals(scan.described)
        && columns.equals(scan.columns);
  }

  @Override
  public int hashCode() {
    return Objects.hash(described, columns, partitionCount);
  }
}
