package io.zrecord.spark;

import io.zrecord.scan.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.ScanPlan;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.SupportsRuntimeV2Filtering;
import org.apache.spark.sql.types.StructType;

/**
 * A scan of some columns at some indices, pinned to the versions it was planned with. A join that turns out to need few indices
 * narrows it once more while the query runs. Lives on the driver.
 */
final class ZRecordScan implements SupportsReportStatistics, SupportsRuntimeV2Filtering, Batch {
  private static final long MIN_SPLIT_BYTES = 1L << 20;
  private static final long MAX_SPLIT_BYTES = 128L << 20;
  private static final int INDEX_BYTES = Long.BYTES;

  private final String location;
  private final List<TableSnapshot> snapshots;
  private final StructType columns;
  private final ReadConf conf;
  private IndexSet indices;
  private long shardsPlanned;
  private long rangesPlanned;

  ZRecordScan(
      String location,
      List<TableSnapshot> snapshots,
      StructType columns,
      IndexSet indices,
      ReadConf conf) {
    this.location = location;
    this.snapshots = snapshots;
    this.columns = columns;
    this.indices = indices;
    this.conf = conf;
    // Values of options are checked while the query is planned, not in its tasks.
    conf.partitionCount();
    conf.batchRows();
    conf.batchBytes();
    conf.verification();
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    return ZRecordSource.SHORT_NAME + " " + location + " " + columns.catalogString() + ", "
        + indices.count() + " records in " + indices.rangeCount() + " ranges";
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.SUPPORTED;
  }

  @Override
  public Statistics estimateStatistics() {
    long rows = indices.count();
    long bytes = rows * INDEX_BYTES;
    long first = 0;
    for (TableSnapshot snapshot : snapshots) {
      bytes += ScanPlan.estimateBytes(snapshot, fields(snapshot).fields(), within(first, snapshot));
      first += snapshot.length();
    }
    return new ScanStatistics(OptionalLong.of(bytes), OptionalLong.of(rows));
  }

  @Override
  public NamedReference[] filterAttributes() {
    boolean readsIndex = Arrays.asList(columns.fieldNames()).contains(ZRecordTable.INDEX_COLUMN);
    return readsIndex
        ? new NamedReference[] {Expressions.column(ZRecordTable.INDEX_COLUMN)}
        : new NamedReference[0];
  }

  @Override
  public void filter(Predicate[] predicates) {
    IndexPredicates evaluator =
        new IndexPredicates(snapshots.stream().mapToLong(TableSnapshot::length).sum());
    for (Predicate predicate : predicates) {
      Optional<IndexSet> matching = evaluator.evaluate(predicate);
      if (matching.isPresent()) {
        indices = indices.intersect(matching.get());
      }
    }
  }

  @Override
  public InputPartition[] planInputPartitions() {
    List<InputPartition> partitions = new ArrayList<>();
    int parallelism = SparkSession.active().sparkContext().defaultParallelism();
    ScanPlan.Sizing sizing = new ScanPlan.Sizing(
        conf.partitionCount(), 2 * parallelism, MIN_SPLIT_BYTES, MAX_SPLIT_BYTES);
    long first = 0;
    shardsPlanned = 0;
    rangesPlanned = 0;
    for (TableSnapshot snapshot : snapshots) {
      RecordSchema fields = fields(snapshot);
      String storage = snapshot.storage().location();
      for (ScanPlan.Split split :
          ScanPlan.divide(snapshot, fields.fields(), within(first, snapshot), sizing)) {
        partitions.add(new ZRecordInputPartition(storage, fields, first, split.slices()));
        shardsPlanned += split.slices().size();
        for (ScanPlan.ShardSlice slice : split.slices()) {
          rangesPlanned += slice.indices().rangeCount();
        }
      }
      first += snapshot.length();
    }
    return partitions.toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new ZRecordReaderFactory(
        columns, conf.batchRows(), conf.batchBytes(), conf.verification(), snapshots);
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return ScanMetrics.supported();
  }

  @Override
  public CustomTaskMetric[] reportDriverMetrics() {
    return ScanMetrics.ofPlan(shardsPlanned, rangesPlanned);
  }

  /** The part of the indices that is in a snapshot, counted from its start. */
  private IndexSet within(long first, TableSnapshot snapshot) {
    return indices.intersect(IndexSet.range(first, first + snapshot.length())).shift(-first);
  }

  /** The fields read, in the order of the columns. */
  private RecordSchema fields(TableSnapshot snapshot) {
    List<FieldSpec> fields = new ArrayList<>();
    for (String name : columns.fieldNames()) {
      if (!name.equals(ZRecordTable.INDEX_COLUMN)) {
        fields.add(snapshot.schema().fields().get(snapshot.schema().ordinal(name)));
      }
    }
    return new RecordSchema(fields);
  }

  private record ScanStatistics(OptionalLong sizeInBytes, OptionalLong numRows)
      implements Statistics {}
}
