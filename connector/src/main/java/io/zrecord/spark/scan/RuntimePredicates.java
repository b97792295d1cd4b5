package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.expressions.filter.Predicate;

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

  /** Tells whether conditions on a column leave less to read. */
  boolean know(ScanOrder order, String column) {
    return order.placeColumns().contains(column)
        || partitions.columns().contains(column)
        || values.canCompare(column);
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
