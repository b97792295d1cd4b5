package io.zrecord.spark.scan;

import io.zrecord.schema.FieldSpec;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.jspecify.annotations.Nullable;

/** Selects partitions by conditions that all have to be true. Safe for several threads. */
public final class PartitionFilter implements java.util.function.Predicate<List<@Nullable String>> {
  private final List<FieldSpec> fields;
  private final List<Predicate> conditions;
  private final PartitionList.Cache lists = new PartitionList.Cache();

  /**
   * Creates a filter.
   *
   * @param fields the partition fields
   * @param conditions conditions on these fields only
   */
  public PartitionFilter(List<FieldSpec> fields, List<Predicate> conditions) {
    this.fields = List.copyOf(fields);
    this.conditions = List.copyOf(conditions);
  }

  /** Returns the first condition that partitions do not decide; empty if they decide all. */
  public static Optional<Predicate> undecided(List<FieldSpec> fields, List<Predicate> conditions) {
    PlacePredicates evaluator = new PartitionFilter(fields, conditions)
        .evaluator(Collections.nCopies(fields.size(), (String) null));
    return conditions.stream()
        .filter(condition -> !evaluator.evaluate(condition).isExact())
        .findFirst();
  }

  /** Tells whether all conditions are true for a partition, given by its texts. */
  @Override
  public boolean test(List<@Nullable String> partition) {
    PlacePredicates evaluator = evaluator(partition);
    return conditions.stream()
        .noneMatch(condition -> evaluator.evaluate(condition).holds().isEmpty());
  }

  private PlacePredicates evaluator(List<@Nullable String> partition) {
    PartitionPlaces.Slice record = new PartitionPlaces.Slice(partition, 1);
    return new PlacePredicates(new PartitionPlaces(fields, List.of(record)), lists);
  }
}
