package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.partition.PartitionValues;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.IntPredicate;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.PartitionFieldReference;
import org.apache.spark.sql.connector.expressions.filter.PartitionPredicate;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Decides single conditions on partition columns for whole shards, as Spark would for each of their
 * records. Belongs to one thread.
 */
final class PartitionConditions {
  private static final String OF_SPARK_4_2 = "PARTITION_PREDICATE";

  private final PartitionPlaces places;
  private final PartitionList.Cache lists;

  PartitionConditions(PartitionPlaces places, PartitionList.Cache lists) {
    this.places = places;
    this.lists = lists;
  }

  /**
   * Tells whether Spark 4.2 offers a condition on partition columns a second time, in this form.
   */
  static boolean isOfPartition(Predicate condition) {
    return condition.name().equals(OF_SPARK_4_2);
  }

  /** Returns the truth of a condition without parts; empty if its truth is not known. */
  Optional<Truth> evaluate(Predicate predicate) {
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case "IS_NULL" -> isAbsent(children[0]);
      case "IS_NOT_NULL" -> isAbsent(children[0]).map(Truth::not);
      case "IN" -> in(predicate);
      case "<=>" -> isSame(children[0], children[1]).or(() -> isSame(children[1], children[0]));
      case "=", "<>", "<", "<=", ">", ">=" ->
        compare(children[0], children[1], signs(predicate.name()))
            .or(() -> compare(
                children[1], children[0], signs(PlacePredicates.mirrored(predicate.name()))));
      case "STARTS_WITH" -> texts(children, UTF8String::startsWith);
      case "ENDS_WITH" -> texts(children, UTF8String::endsWith);
      case "CONTAINS" -> texts(children, UTF8String::contains);
      case OF_SPARK_4_2 -> ofPartition(predicate);
      default -> Optional.empty();
    };
  }

  private Optional<FieldSpec> field(Expression expression) {
    return expression instanceof NamedReference reference && reference.fieldNames().length == 1
        ? places.field(reference.fieldNames()[0])
        : Optional.empty();
  }

  private Optional<Truth> isAbsent(Expression column) {
    return field(column).map(field -> places.where(field.name(), value -> value == null));
  }

  private Optional<Truth> isSame(Expression column, Expression other) {
    return isNull(other)
        ? isAbsent(column)
        : value(column, other)
            .map(wanted -> places.where(
                name(column),
                value -> value != null && PartitionValues.compare(value, wanted) == 0));
  }

  private Optional<Truth> compare(Expression column, Expression other, IntPredicate signs) {
    if (isNull(other)) {
      return field(column).map(field -> places.where(field.name(), value -> null));
    }
    return value(column, other)
        .map(wanted -> places.where(
            name(column),
            value -> value == null ? null : signs.test(PartitionValues.compare(value, wanted))));
  }

  private static IntPredicate signs(String operator) {
    return switch (operator) {
      case "=" -> sign -> sign == 0;
      case "<>" -> sign -> sign != 0;
      case "<" -> sign -> sign < 0;
      case "<=" -> sign -> sign <= 0;
      case ">" -> sign -> sign > 0;
      default -> sign -> sign >= 0;
    };
  }

  private Optional<Truth> in(Predicate predicate) {
    return field(predicate.children()[0])
        .flatMap(field -> lists.of(field, predicate).map(list -> places.where(field.name(), list)));
  }

  private Optional<Truth> texts(
      Expression[] children, BiPredicate<UTF8String, UTF8String> condition) {
    return value(children[0], children[1])
        .filter(wanted -> wanted instanceof UTF8String)
        .map(wanted -> places.where(
            name(children[0]),
            value ->
                value == null ? null : condition.test((UTF8String) value, (UTF8String) wanted)));
  }

  /**
   * Spark evaluates any expression of partition columns, and holds it for true on an error. It
   * takes the columns by their places among those of the loaded table, which may have been
   * partitioned otherwise at the version that is read.
   */
  private Optional<Truth> ofPartition(Predicate predicate) {
    if (!OfSpark42.isBound(predicate, places.fieldsOfAll())) {
      return Optional.empty();
    }
    return places
        .where(values -> OfSpark42.test(predicate, values.toArray()))
        .map(holds -> new Truth(holds, IndexSet.range(0, places.length()), false));
  }

  /** Is loaded only where Spark has the class. */
  private static final class OfSpark42 {
    /** Tells whether all columns are where the expression looks for them. */
    static boolean isBound(Predicate predicate, List<FieldSpec> fields) {
      return Arrays.stream(predicate.references())
          .allMatch(column -> column instanceof PartitionFieldReference reference
              && reference.fieldNames().length == 1
              && reference.ordinal() < fields.size()
              && fields.get(reference.ordinal()).name().equals(reference.fieldNames()[0]));
    }

    static boolean test(Predicate predicate, Object[] values) {
      return ((PartitionPredicate) predicate).eval(new GenericInternalRow(values));
    }
  }

  static boolean isNull(Expression expression) {
    return expression instanceof Literal<?> literal && literal.value() == null;
  }

  private Optional<Object> value(Expression column, Expression other) {
    return other instanceof Literal<?> literal
        ? field(column).flatMap(field -> PartitionValues.of(field, literal))
        : Optional.empty();
  }

  private static String name(Expression column) {
    return ((NamedReference) column).fieldNames()[0];
  }
}
