package io.zrecord.spark.scan;

import io.zrecord.schema.FieldSpec;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Selects partitions by conditions that all have to be true. Immutable.
 *
 * @param fields the partition fields
 * @param conditions conditions on these fields only
 */
public record PartitionFilter(List<FieldSpec> fields, List<Predicate> conditions)
    implements java.util.function.Predicate<List<@Nullable String>> {
  public PartitionFilter {
    fields = List.copyOf(fields);
    conditions = List.copyOf(conditions);
  }

  /** Returns the first condition that partitions do not decide; empty if they decide all. */
  public static Optional<Predicate> undecided(List<FieldSpec> fields, List<Predicate> conditions) {
    PartitionPlaces any =
        new PartitionPlaces(fields, Collections.nCopies(fields.size(), (String) null));
    PlacePredicates evaluator = new PlacePredicates(any);
    return conditions.stream()
        .filter(condition -> !evaluator.evaluate(condition).isExact())
        .findFirst();
  }

  /** Tells whether all conditions are true for a partition, given by its texts. */
  @Override
  public boolean test(List<@Nullable String> partition) {
    PlacePredicates evaluator = new PlacePredicates(new PartitionPlaces(fields, partition));
    return conditions.stream()
        .noneMatch(condition -> evaluator.evaluate(condition).holds().isEmpty());
  }
}
