package io.zrecord.spark.scan;

import static io.zrecord.read.ValueRange.Presence.ABSENT;
import static io.zrecord.read.ValueRange.Presence.PRESENT;

import io.zrecord.read.ValueRange;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.table.TableSnapshot;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Translates Spark's conditions on columns into conditions that statistics can refute. A
 * translation holds for every record for which the predicate is true, and may hold for others:
 * Spark evaluates the predicate as well. Spark's order of values is the order of ranges: NaN is
 * equal to itself and greater than all other numbers, zeros are equal, texts are compared by bytes.
 */
final class ValuePredicates {
  private static final int LAST_CODE_POINT = Character.MAX_CODE_POINT;

  private final Map<String, FieldSpec> fields = new HashMap<>();

  /** Creates the translator for fields that have the same type in all snapshots. */
  ValuePredicates(List<TableSnapshot> snapshots) {
    for (TableSnapshot snapshot : snapshots) {
      for (FieldSpec field : snapshot.schema().fields()) {
        fields.putIfAbsent(field.name(), field);
      }
    }
    fields.values().removeIf(field -> !snapshots.stream().allMatch(s -> hasAlike(s, field)));
  }

  private static boolean hasAlike(TableSnapshot snapshot, FieldSpec field) {
    return snapshot.schema().fields().stream()
        .anyMatch(other -> other.name().equals(field.name())
            && other.type().equals(field.type())
            && other.shape().equals(field.shape()));
  }

  /** Tells whether values of a column can be compared with literals. */
  boolean canCompare(String column) {
    FieldSpec field = fields.get(column);
    return field != null
        && field.shape().isScalar()
        && switch (field.type().kind()) {
          case F16, BF16, DECIMAL, BYTES, NESTED -> false;
          default -> true;
        };
  }

  /** Returns the translation; empty if statistics cannot refute the predicate. */
  Optional<ValueCondition> translate(Predicate predicate) {
    return translate(predicate, false);
  }

  private Optional<ValueCondition> translate(Expression expression, boolean isNegated) {
    if (!(expression instanceof Predicate predicate)) {
      return Optional.empty();
    }
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case "NOT" -> translate(children[0], !isNegated);
      case "AND" -> isNegated ? either(children, true) : both(children, false);
      case "OR" -> isNegated ? both(children, true) : either(children, false);
      case "IS_NULL" -> within(children[0], isNegated ? PRESENT : ABSENT);
      case "IS_NOT_NULL" -> within(children[0], isNegated ? ABSENT : PRESENT);
      case "IN" -> isNegated ? Optional.empty() : in(children);
      case "STARTS_WITH" -> isNegated ? Optional.empty() : startsWith(children);
      // Holds for null, if negated.
      case "<=>" -> isNegated ? Optional.empty() : compare("=", children);
      case "=", "<>", "<", "<=", ">", ">=" ->
        compare(isNegated ? negated(predicate.name()) : predicate.name(), children);
      default -> Optional.empty();
    };
  }

  private Optional<ValueCondition> both(Expression[] children, boolean isNegated) {
    Optional<ValueCondition> left = translate(children[0], isNegated);
    Optional<ValueCondition> right = translate(children[1], isNegated);
    if (left.isEmpty() || right.isEmpty()) {
      return left.or(() -> right);
    }
    return Optional.of(new ValueCondition.Both(left.get(), right.get()));
  }

  private Optional<ValueCondition> either(Expression[] children, boolean isNegated) {
    return translate(children[0], isNegated)
        .flatMap(left ->
            translate(children[1], isNegated).map(right -> new ValueCondition.Either(left, right)));
  }

  private Optional<FieldSpec> field(Expression expression) {
    return expression instanceof NamedReference reference && reference.fieldNames().length == 1
        ? Optional.ofNullable(fields.get(reference.fieldNames()[0]))
        : Optional.empty();
  }

  private Optional<ValueCondition> within(Expression column, ValueRange... ranges) {
    return field(column).map(field -> new ValueCondition.Within(field.name(), List.of(ranges)));
  }

  private Optional<ValueCondition> in(Expression[] children) {
    List<ValueRange> ranges = new ArrayList<>();
    for (Expression child : Arrays.asList(children).subList(1, children.length)) {
      // A comparison with null is never true.
      if (!(child instanceof Literal<?> literal && literal.value() == null)) {
        Optional<ValueRange[]> range =
            field(children[0]).flatMap(field -> ranges("=", field, child));
        if (range.isEmpty()) {
          return Optional.empty();
        }
        ranges.add(range.get()[0]);
      }
    }
    return within(children[0], FewRanges.of(ranges).toArray(ValueRange[]::new));
  }

  private Optional<ValueCondition> startsWith(Expression[] children) {
    return field(children[0])
        .flatMap(field -> ranges("=", field, children[1]))
        .filter(ranges -> ranges[0] instanceof ValueRange.Texts)
        .map(ranges -> ((ValueRange.Texts) ranges[0]).least())
        .flatMap(prefix -> within(children[0], ValuePredicates.prefixed(prefix)));
  }

  /** Returns the range of all texts that begin with a prefix. */
  private static ValueRange prefixed(String prefix) {
    int end = prefix.length();
    while (end > 0 && prefix.codePointBefore(end) == LAST_CODE_POINT) {
      end -= Character.charCount(LAST_CODE_POINT);
    }
    if (end == 0) {
      return new ValueRange.Texts(prefix, null);
    }
    int last = prefix.codePointBefore(end);
    // Half of a surrogate pair is no code point.
    int next = last + 1 == Character.MIN_SURROGATE ? Character.MAX_SURROGATE + 1 : last + 1;
    String most = prefix.substring(0, end - Character.charCount(last)) + Character.toString(next);
    return new ValueRange.Texts(prefix, most);
  }

  private Optional<ValueCondition> compare(String operator, Expression[] children) {
    boolean isMirrored = field(children[0]).isEmpty();
    Expression column = children[isMirrored ? 1 : 0];
    Expression value = children[isMirrored ? 0 : 1];
    return field(column)
        .flatMap(field ->
            ranges(isMirrored ? PlacePredicates.mirrored(operator) : operator, field, value))
        .flatMap(ranges -> within(column, ranges));
  }

  /** Returns the ranges of the values of a field for which a comparison with a literal is true. */
  private static Optional<ValueRange[]> ranges(
      String operator, FieldSpec field, Expression expression) {
    // Values of another type, such as texts with a collation, may have another order.
    if (!(expression instanceof Literal<?> literal)
        || literal.value() == null
        || !field.shape().isScalar()
        || !literal.dataType().equals(SparkTypes.columnType(field))) {
      return Optional.empty();
    }
    Object value = literal.value();
    return switch (field.type().kind()) {
      case BOOL -> Optional.of(integers(operator, (Boolean) value ? 1 : 0));
      case I8, I16, I32, I64, U8, U16, U32, DATE, TIMESTAMP, TIMESTAMP_NTZ ->
        Optional.of(integers(operator, ((Number) value).longValue()));
      case U64 -> {
        BigInteger number = ((Decimal) value).toJavaBigDecimal().toBigInteger();
        yield number.bitLength() < Long.SIZE
            ? Optional.of(integers(operator, number.longValue()))
            : Optional.empty();
      }
      case F32, F64 -> Optional.of(fractions(operator, ((Number) value).doubleValue()));
      case UTF8 -> texts(operator, (UTF8String) value);
      case F16, BF16, DECIMAL, BYTES, NESTED -> Optional.empty();
    };
  }

  private static ValueRange[] integers(String operator, long value) {
    long before = Math.max(value, Long.MIN_VALUE + 1) - 1;
    long after = Math.min(value, Long.MAX_VALUE - 1) + 1;
    return switch (operator) {
      case "=" -> new ValueRange[] {new ValueRange.Integers(value, value)};
      case "<" -> new ValueRange[] {new ValueRange.Integers(Long.MIN_VALUE, before)};
      case "<=" -> new ValueRange[] {new ValueRange.Integers(Long.MIN_VALUE, value)};
      case ">" -> new ValueRange[] {new ValueRange.Integers(after, Long.MAX_VALUE)};
      case ">=" -> new ValueRange[] {new ValueRange.Integers(value, Long.MAX_VALUE)};
      default ->
        new ValueRange[] {
          new ValueRange.Integers(Long.MIN_VALUE, before),
          new ValueRange.Integers(after, Long.MAX_VALUE)
        };
    };
  }

  private static ValueRange[] fractions(String operator, double value) {
    double least = Double.NEGATIVE_INFINITY;
    return switch (operator) {
      case "=" -> new ValueRange[] {new ValueRange.Fractions(value, value)};
      case "<" -> new ValueRange[] {new ValueRange.Fractions(least, Math.nextDown(value))};
      case "<=" -> new ValueRange[] {new ValueRange.Fractions(least, value)};
      case ">" -> new ValueRange[] {new ValueRange.Fractions(Math.nextUp(value), Double.NaN)};
      case ">=" -> new ValueRange[] {new ValueRange.Fractions(value, Double.NaN)};
      default ->
        new ValueRange[] {
          new ValueRange.Fractions(least, Math.nextDown(value)),
          new ValueRange.Fractions(Math.nextUp(value), Double.NaN)
        };
    };
  }

  private static Optional<ValueRange[]> texts(String operator, UTF8String value) {
    String text = value.toString();
    if (!Arrays.equals(value.getBytes(), text.getBytes(StandardCharsets.UTF_8))) {
      return Optional.empty(); // Bytes that are no text.
    }
    return Optional.of(
        switch (operator) {
          case "=" -> new ValueRange[] {new ValueRange.Texts(text, text)};
          case "<", "<=" -> new ValueRange[] {new ValueRange.Texts("", text)};
          case ">", ">=" -> new ValueRange[] {new ValueRange.Texts(text, null)};
          default -> new ValueRange[] {PRESENT};
        });
  }

  private static String negated(String operator) {
    return switch (operator) {
      case "=" -> "<>";
      case "<>" -> "=";
      case "<" -> ">=";
      case "<=" -> ">";
      case ">" -> "<=";
      default -> "<";
    };
  }
}
