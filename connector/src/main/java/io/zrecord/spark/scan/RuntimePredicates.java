package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.StructType;

/**
 * What a scan can make of conditions that are known when the query runs, such as the keys of the
 * other side of a join. Lives on the driver.
 *
 * @param partitions the places of partitions
 * @param values translates conditions on values
 */
record RuntimePredicates(PartitionPlaces partitions, ValuePredicates values) {
  /** What conditions leave of a scan. */
  record Narrowed(IndexSet places, List<ValueCondition> conditions) {}

  /** Knows nothing of partitions and values. */
  static RuntimePredicates ofPlaces() {
    return new RuntimePredicates(new PartitionPlaces(List.of()), new ValuePredicates(List.of()));
  }

  /**
   * Returns the names of those columns of which conditions leave less to read. Spark may not tell
   * columns apart whose names differ by case only.
   *
   * @param byValues whether conditions on values count, and not only those on places
   */
  List<String> columns(ScanOrder order, StructType columns, boolean byValues) {
    Set<String> once = new HashSet<>();
    Set<String> repeated = new HashSet<>();
    for (String name : columns.fieldNames()) {
      String lower = name.toLowerCase(Locale.ROOT);
      if (!once.add(lower)) {
        repeated.add(lower);
      }
    }
    return Arrays.stream(columns.fieldNames())
        .filter(name -> order.placeColumns().contains(name)
            || partitions.columns().contains(name)
            || (byValues
                && values.canCompare(name)
                && !repeated.contains(name.toLowerCase(Locale.ROOT))))
        .toList();
  }

  /** Narrows a scan down. */
  Narrowed narrow(ScanOrder order, Narrowed before, Predicate[] predicates) {
    PlacePredicates evaluator = new PlacePredicates(order, partitions);
    IndexSet places = before.places();
    List<ValueCondition> conditions = new ArrayList<>(before.conditions());
    for (Predicate predicate : predicates) {
      Truth truth = evaluator.evaluate(predicate);
      places = places.intersect(truth.holds());
      if (!truth.isExact()) {
        values.translate(predicate).ifPresent(conditions::add);
      }
    }
    return new Narrowed(places, conditions);
  }
}
