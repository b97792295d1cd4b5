package io.zrecord.spark.scan;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.partition.PartitionValues;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The values that a condition {@code IN} lists for a partition column. A join lists all keys that
 * it met. Immutable.
 */
final class PartitionList implements PartitionPlaces.Condition {
  private final Set<Object> values;
  private final boolean hasNull;

  private PartitionList(Set<Object> values, boolean hasNull) {
    this.values = values;
    this.hasNull = hasNull;
  }

  /** The lists of conditions, each made once. Safe for several threads. */
  static final class Cache {
    private final Map<Predicate, Optional<PartitionList>> known =
        Collections.synchronizedMap(new IdentityHashMap<>());

    /** Returns what a condition lists, which must be about the same field each time. */
    Optional<PartitionList> of(FieldSpec field, Predicate predicate) {
      return known.computeIfAbsent(predicate, in -> PartitionList.of(field, in.children()));
    }
  }

  /**
   * Returns the values of a list.
   *
   * @param children the column, and what is listed
   * @return empty if something is no literal of the column's type
   */
  private static Optional<PartitionList> of(FieldSpec field, Expression[] children) {
    Set<Object> values = new TreeSet<>(PartitionValues::compare);
    boolean hasNull = false;
    for (Expression child : Arrays.asList(children).subList(1, children.length)) {
      if (PartitionConditions.isNull(child)) {
        hasNull = true;
        continue;
      }
      Optional<Object> value = child instanceof Literal<?> literal
          ? PartitionValues.of(field, literal)
          : Optional.empty();
      if (value.isEmpty()) {
        return Optional.empty();
      }
      values.add(value.get());
    }
    return Optional.of(new PartitionList(values, hasNull));
  }

  @Override
  public @Nullable Boolean test(@Nullable Object value) {
    if (value == null) {
      return null;
    }
    boolean isAmong = values.contains(value);
    return (!isAmong && hasNull) ? null : isAmong;
  }
}
