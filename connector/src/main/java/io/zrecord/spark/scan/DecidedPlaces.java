package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.filter.Predicate;

/** Finds the records that meet conditions, where metadata alone decides. Stateless. */
public final class DecidedPlaces {
  private DecidedPlaces() {}

  /** Returns the indices of a version that meet all conditions; empty if values decide. */
  public static Optional<IndexSet> of(TableSnapshot version, Predicate[] conditions) {
    List<TableSnapshot> versions = List.of(version);
    PlacePredicates evaluator =
        new PlacePredicates(new IndexOrder(versions), new PartitionPlaces(versions));
    IndexSet places = IndexSet.range(0, version.length());
    for (Predicate condition : conditions) {
      Truth truth = evaluator.evaluate(condition);
      if (!truth.isExact()) {
        return Optional.empty();
      }
      places = places.intersect(truth.holds());
    }
    return Optional.of(places);
  }
}
