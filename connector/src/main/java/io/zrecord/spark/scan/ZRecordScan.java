package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.SparkErrors;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportOrdering;
import org.apache.spark.sql.connector.read.SupportsReportPartitioning;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.SupportsRuntimeV2Filtering;
import org.apache.spark.sql.connector.read.partitioning.KeyGroupedPartitioning;
import org.apache.spark.sql.connector.read.partitioning.Partitioning;
import org.apache.spark.sql.connector.read.partitioning.UnknownPartitioning;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * A scan of some columns at some places of an order, pinned to the versions of its plan. Each task
 * reads in that order. While a query runs, a join that turns out to need few places narrows the
 * scan once more. Lives on the driver.
 */
public final class ZRecordScan
    implements SupportsReportStatistics,
        SupportsReportPartitioning,
        SupportsReportOrdering,
        SupportsRuntimeV2Filtering,
        Batch {
  /** The setting with which Spark joins and groups by partitions without a shuffle. */
  private static final String BUCKETING = "spark.sql.sources.v2.bucketing.enabled";

  private static final long MIN_SPLIT_BYTES = 1L << 20;
  private static final long MAX_SPLIT_BYTES = 128L << 20;
  private static final int INDEX_BYTES = Long.BYTES;

  /**
   * Bytes of a scan that conditions of joins on values may narrow down. Spark plans the other side
   * of the join once more for each condition, with the conditions in there: where both sides take
   * conditions, plans double with each join. A smaller scan is read faster than that is planned.
   */
  private static final long NARROWED_BYTES = 32L << 20;

  /**
   * Smallest share of the records to which partitions are adapted. Smaller samples do not make
   * partitions larger still.
   */
  private static final double LEAST_SAMPLED = 1.0 / 1024;

  private final String location;
  private final ScanOrder order;
  private final RuntimePredicates runtime;
  private final ReadSettings settings;
  private final Conditions conditions;
  private final int partitionCount;
  private final ScanUse use;
  private final Optional<ScanOfStream> stream;
  private final RuntimePredicates.Narrowed planned;

  private volatile NamedReference @Nullable [] filterAttributes;

  /** What is read, which a join may narrow down while the query runs. */
  private volatile RuntimePredicates.Narrowed read;

  /** The stream of this scan; null if the scan is none of a stream. */
  private volatile @Nullable SizedStream batches;

  private long shardsPlanned;
  private long rangesPlanned;

  /** Creates a scan that partitions do not narrow down, nor a join while the query runs. */
  public ZRecordScan(
      String location,
      ScanOrder order,
      IndexSet places,
      ReadSettings settings,
      List<Predicate> pushed,
      int partitionCount) {
    this(
        location,
        order,
        RuntimePredicates.ofPlaces(),
        places,
        settings,
        new Conditions(pushed, List.of()),
        partitionCount,
        ScanUse.CHANGES,
        Optional.empty());
  }

  /**
   * Creates a scan.
   *
   * @param runtime takes the conditions of joins
   * @param places the places to read, or those from which {@link ReadSettings#sample} draws
   * @param conditions the conditions of the query, for the plan that a user sees
   * @param partitionCount 0: automatic
   * @param use what the rows are for
   * @param stream what the scan is if it is that of a stream, which it may be
   */
  ZRecordScan(
      String location,
      ScanOrder order,
      RuntimePredicates runtime,
      IndexSet places,
      ReadSettings settings,
      Conditions conditions,
      int partitionCount,
      ScanUse use,
      Optional<ScanOfStream> stream) {
    this.location = location;
    this.order = order;
    this.runtime = runtime;
    this.planned = new RuntimePredicates.Narrowed(places, settings.conditions());
    this.read = planned;
    this.settings = settings;
    this.conditions = conditions;
    this.partitionCount = partitionCount;
    this.use = use;
    this.stream = stream;
  }

  private IndexSet places() {
    return read.places();
  }

  @Override
  public StructType readSchema() {
    return settings.columns();
  }

  @Override
  public String description() {
    return ZRecordOptions.FORMAT + " " + location + " " + settings.columns().catalogString()
        + ", " + places().count() + " records in " + places().rangeCount() + " ranges of " + order
        + (settings.sample() == null ? "" : ", " + settings.sample())
        + ", " + conditions.description();
  }

  @Override
  public Batch toBatch() {
    SparkErrors.done(() -> stream.ifPresent(ScanOfStream::requireBatch));
    return this;
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
    SizedStream opened = SparkErrors.planned(() -> stream.orElseThrow().stream(settings));
    batches = opened;
    return opened;
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.SUPPORTED;
  }

  @Override
  public Statistics estimateStatistics() {
    return SparkErrors.planned(this::statistics);
  }

  private Statistics statistics() {
    SizedStream ofStream = batches;
    if (ofStream != null) {
      return new ScanStatistics(ofStream.batchBytes(), ofStream.batchRows());
    }
    double part = settings.sample() == null ? 1 : settings.sample().mean();
    long rows = places().count();
    long bytes = rows * INDEX_BYTES + order.estimateBytes(settings.columns(), places());
    return new ScanStatistics(
        OptionalLong.of((long) (bytes * part)), OptionalLong.of((long) (rows * part)));
  }

  /** Returns the columns on which conditions of joins leave less to read. */
  @Override
  public NamedReference[] filterAttributes() {
    NamedReference[] known = filterAttributes;
    if (known == null) {
      known = use == ScanUse.QUERY
          ? runtime.columns(order, settings.columns(), isLarge()).stream()
              .map(name -> Expressions.column(PartitionColumns.quoted(name)))
              .toArray(NamedReference[]::new)
          : new NamedReference[0];
      filterAttributes = known;
    }
    return known.clone();
  }

  private boolean isLarge() {
    return SparkErrors.planned(
        () -> order.estimateBytes(settings.columns(), planned.places()) >= NARROWED_BYTES);
  }

  /** Narrows the planned scan down, and not what was left of it when it ran before. */
  @Override
  public void filter(Predicate[] predicates) {
    SparkErrors.done(() -> read = runtime.narrow(order, planned, predicates));
  }

  @Override
  public InputPartition[] planInputPartitions() {
    // Spark refuses a partition of the table in more parts than before a join narrowed it down.
    boolean isReported = isReported();
    IndexSet left = places();
    IndexSet divided = isReported ? planned.places() : left;
    ScanOrder.Division division =
        SparkErrors.planned(() -> order.divide(settings.columns(), divided, sizing()));
    shardsPlanned = division.shards();
    rangesPlanned = division.ranges();
    if (use == ScanUse.CHANGES_BY_SHARD) {
      return WholeShards.of(division.partitions()).toArray(InputPartition[]::new);
    }
    if (!isReported) {
      return division.partitions().toArray(InputPartition[]::new);
    }
    List<ZRecordInputPartition> parts = division.partitions().stream()
        .map(ZRecordInputPartition.class::cast)
        .flatMap(
            part -> left.equals(planned.places()) ? Stream.of(part) : part.within(left).stream())
        .toList();
    if (!left.equals(planned.places())) {
      shardsPlanned = parts.stream().mapToLong(part -> part.slices().size()).sum();
      rangesPlanned = parts.stream()
          .flatMap(part -> part.slices().stream())
          .mapToLong(slice -> slice.indices().rangeCount())
          .sum();
    }
    return parts.stream()
        .flatMap(
            part -> KeyedInputPartition.divided(runtime.partitions().fieldsOfAll(), part).stream())
        .toArray(InputPartition[]::new);
  }

  /** Returns the partitions of the table, so that Spark need not shuffle for a join by them. */
  @Override
  public Partitioning outputPartitioning() {
    if (!isReported()) {
      return new UnknownPartitioning(0);
    }
    List<String> names =
        runtime.partitions().fieldsOfAll().stream().map(FieldSpec::name).toList();
    return new KeyGroupedPartitioning(
        names.stream()
            .map(name -> Expressions.column(PartitionColumns.quoted(name)))
            .toArray(Expression[]::new),
        runtime.partitions().counts(names, planned.places()).size());
  }

  /**
   * Returns the order of the rows of each task. Spark may put several partitions of the table into
   * one task, if it knows them.
   */
  @Override
  public SortOrder[] outputOrdering() {
    return Arrays.stream(settings.columns().fieldNames())
        .filter(name -> !isReported() && order.placeColumns().contains(name))
        .limit(1)
        .map(name -> Expressions.sort(Expressions.column(name), SortDirection.ASCENDING))
        .toArray(SortOrder[]::new);
  }

  /**
   * Tells whether the session itself asks for joins by partitions, and all partition columns are
   * read. Spark then reads partition by partition, before 4.2 in every query, and not in the order
   * of the index. So a default of Spark does not decide this.
   */
  private boolean isReported() {
    RuntimeConfig session = SparkSession.active().conf();
    List<FieldSpec> fields = runtime.partitions().fieldsOfAll();
    return use != ScanUse.CHANGES_BY_SHARD
        && !fields.isEmpty()
        && session.contains(BUCKETING)
        && Boolean.parseBoolean(session.get(BUCKETING))
        && fields.stream()
            .allMatch(field -> settings.columns().getFieldIndex(field.name()).isDefined());
  }

  /**
   * Returns the sizing of splits. The limits are for bytes that are read; a sample reads only a
   * part.
   */
  private SplitSizing sizing() {
    int parallelism = SparkSession.active().sparkContext().defaultParallelism();
    double part = settings.sample() == null
        ? 1
        : Math.max(LEAST_SAMPLED, Math.min(1, settings.sample().mean()));
    return new SplitSizing(partitionCount, 2 * parallelism, (long) (MIN_SPLIT_BYTES / part), (long)
        (MAX_SPLIT_BYTES / part));
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return SparkErrors.planned(() -> {
      RuntimePredicates.Narrowed now = read;
      SearchedFields searched = SearchedFields.of(
          now.conditions(),
          settings.columns(),
          now.places().count(),
          columns -> order.estimateBytes(columns, now.places()));
      return order.readers(settings.bare().of(now.conditions(), searched));
    });
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return ScanMetrics.supported();
  }

  @Override
  public CustomTaskMetric[] reportDriverMetrics() {
    return ScanMetrics.ofPlan(shardsPlanned, rangesPlanned);
  }

  /**
   * Tells whether the other scan was planned to read the same. Ignores what a join found out at run
   * time: Spark compares scans before and after, and looks at the filters itself.
   */
  @Override
  public boolean equals(Object other) {
    return other instanceof ZRecordScan scan
        && partitionCount == scan.partitionCount
        && use == scan.use
        && location.equals(scan.location)
        && order.equals(scan.order)
        && versions().equals(scan.versions())
        && settings.bare().equals(scan.settings.bare())
        && planned.places().equals(scan.planned.places());
  }

  /** Returns the versions that rows say they are of; none if they do not say it. */
  private List<Long> versions() {
    return settings.columns().getFieldIndex(MetadataColumns.VERSION).isDefined()
        ? order.versions()
        : List.of();
  }

  @Override
  public int hashCode() {
    return Objects.hash(location, order, settings.bare(), planned.places(), partitionCount);
  }

  private record ScanStatistics(OptionalLong sizeInBytes, OptionalLong numRows)
      implements Statistics {}
}
