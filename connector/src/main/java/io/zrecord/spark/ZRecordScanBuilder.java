package io.zrecord.spark;

import io.zrecord.scan.IndexSet;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownOffset;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructType;

/**
 * Collects what a scan has to read: columns, and a set of indices that conditions on {@code _index}, limit and offset narrow down.
 * What can be decided from indices is decided here, without opening a data file.
 */
final class ZRecordScanBuilder
    implements ScanBuilder,
        SupportsPushDownRequiredColumns,
        SupportsPushDownV2Filters,
        SupportsPushDownLimit,
        SupportsPushDownOffset,
        SupportsPushDownAggregates {
  private final String location;
  private final List<TableSnapshot> snapshots;
  private final ReadConf conf;
  private final long length;
  private final List<Predicate> pushed = new ArrayList<>();
  private StructType columns;
  private IndexSet indices;
  private long limit = Long.MAX_VALUE;
  private long offset;
  private Optional<Integer> countColumns = Optional.empty();

  ZRecordScanBuilder(
      String location, List<TableSnapshot> snapshots, StructType schema, ReadConf conf) {
    this.location = location;
    this.snapshots = snapshots;
    this.columns = schema;
    this.conf = conf;
    this.length = snapshots.stream().mapToLong(TableSnapshot::length).sum();
    this.indices = conf.indices(length);
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    IndexPredicates evaluator = new IndexPredicates(length);
    List<Predicate> remaining = new ArrayList<>();
    for (Predicate predicate : predicates) {
      Optional<IndexSet> matching = evaluator.evaluate(predicate);
      if (matching.isPresent()) {
        indices = indices.intersect(matching.get());
        pushed.add(predicate);
      } else {
        remaining.add(predicate);
      }
    }
    return remaining.toArray(Predicate[]::new);
  }

  @Override
  public Predicate[] pushedPredicates() {
    return pushed.toArray(Predicate[]::new);
  }

  @Override
  public void pruneColumns(StructType requiredColumns) {
    columns = requiredColumns;
  }

  @Override
  public boolean pushLimit(int newLimit) {
    if (countColumns.isPresent()) {
      return false;
    }
    limit = newLimit;
    return true;
  }

  @Override
  public boolean isPartiallyPushed() {
    return false;
  }

  /** Spark adds the offset to the limit before, so the limit counts from before the offset. */
  @Override
  public boolean pushOffset(int newOffset) {
    if (countColumns.isPresent()) {
      return false;
    }
    offset = newOffset;
    return true;
  }

  @Override
  public boolean supportCompletePushDown(Aggregation aggregation) {
    return aggregation.groupByExpressions().length == 0
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
    return true;
  }

  @Override
  public Scan build() {
    IndexSet selected = limit == Long.MAX_VALUE && offset == 0
        ? indices
        : indices.slice(offset, Math.max(0, limit - offset));
    return countColumns.isPresent()
        ? new CountScan(location, countColumns.get(), selected.count())
        : new ZRecordScan(location, snapshots, columns, selected, conf);
  }

  private static boolean isCountOfRecords(AggregateFunc function) {
    return function instanceof CountStar;
  }
}
