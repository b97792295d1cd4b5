package io.zrecord.spark.changes;

import io.zrecord.spark.column.WholeColumns;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.scan.ReadSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * Builds a scan of changes. Conditions on the version leave versions out; Spark evaluates them as
 * well. Belongs to one thread.
 */
final class ChangesScanBuilder
    implements ScanBuilder, SupportsPushDownRequiredColumns, SupportsPushDownV2Filters {
  private final String location;
  private final ChangesTable table;
  private final Optional<ChangesRange> range;
  private final ReadConf conf;
  private final Function<ReadSettings, MicroBatchStream> stream;
  private final List<Predicate> pushed = new ArrayList<>();
  private final StructType all;
  private StructType columns;
  private long first;
  private long last;

  /**
   * Begins a scan.
   *
   * @param range what a batch tells; empty if there is none
   * @param stream opens the stream, if the scan is that of one
   */
  ChangesScanBuilder(
      String location,
      ChangesTable table,
      Optional<ChangesRange> range,
      ReadConf conf,
      Function<ReadSettings, MicroBatchStream> stream) {
    this.location = location;
    this.table = table;
    this.range = range;
    this.all = table.schema();
    this.columns = all;
    this.conf = conf;
    this.stream = stream;
    this.first = range.map(ChangesRange::from).orElse(-1L) + 1;
    this.last = table.last().version();
  }

  @Override
  public void pruneColumns(StructType required) {
    columns = WholeColumns.of(all, required);
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    Arrays.stream(predicates).forEach(this::narrow);
    return predicates;
  }

  @Override
  public Predicate[] pushedPredicates() {
    return pushed.toArray(Predicate[]::new);
  }

  private void narrow(Predicate predicate) {
    Expression[] children = predicate.children();
    if (range.map(ChangesRange::isNet).orElse(true)
        || children.length != 2
        || !(children[0] instanceof NamedReference column)
        || !column.fieldNames()[0].equals(ChangeColumns.VERSION)
        || !(children[1] instanceof Literal<?> literal)
        || !(literal.value() instanceof Long version)) {
      return;
    }
    switch (predicate.name()) {
      case "=" -> {
        first = Math.max(first, version);
        last = Math.min(last, version);
      }
      case ">" -> first = Math.max(first, version == Long.MAX_VALUE ? version : version + 1);
      case ">=" -> first = Math.max(first, version);
      case "<" -> last = Math.min(last, version == Long.MIN_VALUE ? version : version - 1);
      case "<=" -> last = Math.min(last, version);
      default -> {
        return;
      }
    }
    pushed.add(predicate);
  }

  @Override
  public Scan build() {
    return new ChangesScan(
        location,
        table,
        range.map(of -> new ChangesScan.Part(of, first, last)),
        columns,
        conf,
        stream);
  }
}
