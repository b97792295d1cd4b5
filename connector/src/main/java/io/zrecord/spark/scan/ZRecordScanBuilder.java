package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.spark.column.UnreadableColumns;
import io.zrecord.spark.column.WholeColumns;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.SamplerOptions;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.SampleMethod;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownOffset;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownTableSample;
import org.apache.spark.sql.connector.read.SupportsPushDownTopN;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Collects what a scan has to read: columns, and a set of places of the order. A sample of chunks,
 * conditions on places and partitions, limit and offset narrow the set down. Whatever places and
 * partitions can decide is decided here, without opening a data file. The tasks draw samples of
 * single records. Nothing knows their number in advance, so limit, offset and count are left to
 * Spark then. Conditions on values stay with Spark. The tasks pass over records that cannot meet
 * them.
 */
public final class ZRecordScanBuilder
    implements ScanBuilder,
        SupportsPushDownTableSample,
        SupportsPushDownRequiredColumns,
        SupportsPushDownV2Filters,
        SupportsPushDownLimit,
        SupportsPushDownTopN,
        SupportsPushDownOffset,
        SupportsPushDownAggregates {
  private final String location;
  private final List<TableSnapshot> snapshots;
  private final ScanOrder order;
  private final ReadConf conf;
  private final ScanOfStream stream;
  private final PartitionPlaces partitions;
  private final ValuePredicates values;
  private final List<Predicate> pushed = new ArrayList<>();
  private final Set<Predicate> notPushed = new LinkedHashSet<>();
  private final List<ValueCondition> conditions = new ArrayList<>();
  private final StructType declared;
  private StructType columns;
  private IndexSet places;
  private boolean isSampled;
  private Optional<TableSample> sample = Optional.empty();
  private long limit = Long.MAX_VALUE;
  private long offset;
  private Optional<Integer> countColumns = Optional.empty();
  private ScanUse use = ScanUse.QUERY;
  private boolean isSortedAgain;
  private List<String> groups = List.of();
  private Consumer<StructType> told = columns -> {};

  public ZRecordScanBuilder(
      String location,
      List<TableSnapshot> snapshots,
      StructType schema,
      ReadConf conf,
      ScanOfStream stream) {
    this.location = location;
    this.stream = stream;
    this.snapshots = List.copyOf(snapshots);
    this.declared = schema;
    this.columns = schema;
    this.conf = conf;
    SamplerOptions options = conf.sampler();
    if (options.sampler().isPresent()) {
      this.order = new SamplerOrder(requireOne(snapshots), options.sampler().get(), options.part());
      this.places = IndexSet.range(0, order.length());
      this.partitions = new PartitionPlaces(List.of());
      this.values = new ValuePredicates(List.of());
    } else {
      this.order = new IndexOrder(snapshots);
      this.places = conf.indices(order.length());
      this.partitions = new PartitionPlaces(snapshots);
      this.values = new ValuePredicates(conf.usesStatistics() ? snapshots : List.of());
    }
  }

  private static TableSnapshot requireOne(List<TableSnapshot> snapshots) {
    if (snapshots.size() != 1) {
      throw new IllegalArgumentException("Cannot read " + snapshots.size()
          + " datasets in the order of a sampler; load one path, or write them into one dataset");
    }
    return snapshots.get(0);
  }

  /** Lets the scan be that of a statement that changes records. */
  public ZRecordScanBuilder forRowChanges() {
    use = ScanUse.CHANGES;
    return this;
  }

  /** Lets the scan be one that runs several times, each time with other conditions of joins. */
  public ZRecordScanBuilder forLoop() {
    use = ScanUse.LOOP;
    return this;
  }

  /** Sets what is told the columns of the scan when it is built. */
  public ZRecordScanBuilder telling(Consumer<StructType> reads) {
    told = reads;
    return this;
  }

  /** Lets one task read all records of a shard that the statement may change. */
  public ZRecordScanBuilder byShards() {
    use = ScanUse.CHANGES_BY_SHARD;
    return this;
  }

  @Override
  public boolean pushTableSample(
      double lowerBound, double upperBound, boolean withReplacement, long seed) {
    if (isSampled) {
      return false;
    }
    sample = TableSample.of(lowerBound, upperBound, withReplacement, seed);
    isSampled = sample.isPresent();
    return isSampled;
  }

  /** Overrides a method that Spark has from 4.2 on. */
  @SuppressWarnings("unused")
  public boolean pushTableSample(
      double lowerBound,
      double upperBound,
      boolean withReplacement,
      long seed,
      SampleMethod method) {
    if (method != SampleMethod.SYSTEM) {
      return pushTableSample(lowerBound, upperBound, withReplacement, seed);
    }
    if (isSampled || withReplacement) {
      return false;
    }
    Optional<IndexSet> drawn = SparkErrors.planned(
        () -> TableSample.of(lowerBound, upperBound, false, seed).flatMap(order::drawUnits));
    drawn.ifPresent(units -> places = places.intersect(units));
    isSampled = drawn.isPresent();
    return isSampled;
  }

  /** Returns the predicates that Spark has to evaluate, which are all those on values. */
  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    return SparkErrors.planned(() -> push(predicates));
  }

  private Predicate[] push(Predicate[] predicates) {
    PlacePredicates evaluator = new PlacePredicates(order, partitions);
    List<Predicate> remaining = new ArrayList<>();
    for (Predicate predicate : predicates) {
      Truth truth = evaluator.evaluate(predicate);
      IndexSet narrowed = places.intersect(truth.holds());
      boolean isOfUse = truth.isExact() || narrowed.count() < places.count();
      places = narrowed;
      if (!truth.isExact()) {
        remaining.add(predicate);
        Optional<ValueCondition> condition = values.translate(predicate);
        condition.ifPresent(conditions::add);
        isOfUse |= condition.isPresent();
      }
      boolean isRepeated = PartitionConditions.isOfPartition(predicate);
      if (isOfUse && isRepeated) {
        notPushed.removeIf(this::isOfPartitionColumns);
      }
      if (isOfUse && !hasNull(predicate)) {
        pushed.add(predicate);
      } else if (!isRepeated && !hasNull(predicate)) {
        notPushed.add(predicate);
      }
    }
    return remaining.toArray(Predicate[]::new);
  }

  private boolean isOfPartitionColumns(Predicate predicate) {
    return Arrays.stream(predicate.references())
        .allMatch(column -> column.fieldNames().length == 1
            && partitions.columns().contains(column.fieldNames()[0]));
  }

  /** Tells whether a literal is null. Spark 4.2 fails when it shows a null text in a plan. */
  private static boolean hasNull(Expression expression) {
    return expression instanceof Literal<?> literal
        ? literal.value() == null
        : Arrays.stream(expression.children()).anyMatch(ZRecordScanBuilder::hasNull);
  }

  /**
   * Takes what is left once more, as conditions on whole partitions. A method of Spark 4.2; no
   * {@code @Override}: older releases lack the method.
   */
  public boolean supportsIterativePushdown() {
    return true;
  }

  @Override
  public Predicate[] pushedPredicates() {
    return pushed.toArray(Predicate[]::new);
  }

  @Override
  public void pruneColumns(StructType requiredColumns) {
    SparkErrors.done(() -> snapshots.forEach(
        snapshot -> UnreadableColumns.refuse(location, snapshot.schema(), requiredColumns)));
    columns = WholeColumns.of(declared, requiredColumns);
  }

  /** Tells whether the number of rows is known, and rows are numbered by their places. */
  private boolean isCounted() {
    return sample.isEmpty() && conditions.isEmpty() && countColumns.isEmpty();
  }

  @Override
  public boolean pushLimit(int newLimit) {
    if (newLimit < 0) {
      // Spark adds limit and offset in 32 bits.
      return false;
    }
    if (!isCounted()) {
      return false;
    }
    limit = newLimit;
    return true;
  }

  /**
   * Keeps the first places for a query that sorts by them and has a limit, or the last ones if the
   * query sorts them downwards. Places are unique, so columns after them do not matter. Spark sorts
   * what is left.
   */
  @Override
  public boolean pushTopN(SortOrder[] orders, int rows) {
    if (rows < 0 || !isCounted() || orders.length == 0 || !isOfPlaces(orders[0])) {
      return false;
    }
    long count = Math.min(rows, places.count());
    places = orders[0].direction() == SortDirection.ASCENDING
        ? places.slice(0, count)
        : places.slice(places.count() - count, count);
    isSortedAgain = true;
    return true;
  }

  private boolean isOfPlaces(SortOrder sort) {
    return sort.expression() instanceof NamedReference column
        && column.fieldNames().length == 1
        && order.placeColumns().contains(column.fieldNames()[0]);
  }

  /** Tells whether Spark still has to sort and to count the rows of a limit. */
  @Override
  public boolean isPartiallyPushed() {
    return isSortedAgain;
  }

  /**
   * Drops rows from the beginning. Spark has added the offset to the limit before, so the limit
   * includes the dropped rows.
   */
  @Override
  public boolean pushOffset(int newOffset) {
    if (!isCounted()) {
      return false;
    }
    offset = newOffset;
    return true;
  }

  @Override
  public boolean supportCompletePushDown(Aggregation aggregation) {
    return sample.isEmpty()
        && conditions.isEmpty()
        && CountPushDown.isAllowed()
        && Arrays.stream(aggregation.groupByExpressions()).allMatch(this::isOfPartitions)
        && aggregation.aggregateExpressions().length > 0
        && Arrays.stream(aggregation.aggregateExpressions())
            .allMatch(ZRecordScanBuilder::isCountOfRecords);
  }

  @Override
  public boolean pushAggregation(Aggregation aggregation) {
    if (!supportCompletePushDown(aggregation)) {
      return false;
    }
    countColumns = Optional.of(aggregation.aggregateExpressions().length);
    groups = Arrays.stream(aggregation.groupByExpressions())
        .map(group -> ((NamedReference) group).fieldNames()[0])
        .toList();
    return true;
  }

  @Override
  public Scan build() {
    IndexSet selected = limit == Long.MAX_VALUE && offset == 0
        ? places
        : places.slice(offset, Math.max(0, limit - offset));
    if (countColumns.isPresent()) {
      SparkErrors.done(stream::requireBatch);
      CountScan count = new CountScan(
          location,
          new StructType(groups.stream().map(declared::apply).toArray(StructField[]::new)),
          countColumns.get(),
          groups.isEmpty()
              ? Map.of(List.of(), selected.count())
              : partitions.counts(groups, selected));
      return CountPushDown.isByTasks() ? count.byTask() : count;
    }
    told.accept(columns);
    // Checks values of options while the query is planned, not in its tasks.
    ReadSettings settings = new ReadSettings(
        columns,
        conf.batchRows(),
        conf.batchBytes(),
        conf.verification(),
        sample.orElse(null),
        List.copyOf(conditions),
        SearchedFields.NONE,
        null);
    return new ZRecordScan(
        location,
        order,
        new RuntimePredicates(partitions, values),
        selected,
        settings,
        new Conditions(pushed, List.copyOf(notPushed)),
        conf.partitionCount(),
        use,
        Optional.of(stream));
  }

  /** Tells whether the lists of shards have the value of an expression for all records. */
  private boolean isOfPartitions(Expression expression) {
    return expression instanceof NamedReference reference
        && reference.fieldNames().length == 1
        && partitions.tellAll(reference.fieldNames()[0]);
  }

  private static boolean isCountOfRecords(AggregateFunc function) {
    return function instanceof CountStar;
  }
}
