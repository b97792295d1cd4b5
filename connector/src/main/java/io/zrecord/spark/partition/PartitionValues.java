package io.zrecord.spark.partition;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.table.write.PartitionText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * Values of partition fields in one form that can be compared in Spark's order: numbers, dates and
 * timestamps as {@link BigDecimal}, booleans as such, texts as {@link UTF8String}. Stateless.
 */
public final class PartitionValues {
  private PartitionValues() {}

  /** Returns the value of a text, as {@link PartitionText} has it; null for an absent value. */
  public static @Nullable Object of(FieldSpec field, @Nullable String text) {
    return text == null ? null : present(field, text);
  }

  /** Returns the value of a text, as {@link PartitionText} has it. */
  public static Object present(FieldSpec field, String text) {
    byte[] bytes = PartitionText.parse(field, text);
    return switch (field.type().kind()) {
      case UTF8 -> UTF8String.fromBytes(bytes);
      case BOOL -> bytes[0] != 0;
      case U8, U16, U32, U64 -> new BigDecimal(new BigInteger(1, reversed(bytes)));
      case DECIMAL ->
        new BigDecimal(new BigInteger(reversed(bytes)), field.type().scale());
      default -> new BigDecimal(new BigInteger(reversed(bytes)));
    };
  }

  /** Returns a value as Spark's rows have it. */
  public static @Nullable Object internal(FieldSpec field, @Nullable Object value) {
    if (!(value instanceof BigDecimal number)) {
      return value;
    }
    DataType type = SparkTypes.columnType(field);
    if (type instanceof DecimalType decimal) {
      return Decimal.apply(number, decimal.precision(), decimal.scale());
    }
    return switch (type.typeName()) {
      case "byte" -> number.byteValueExact();
      case "short" -> number.shortValueExact();
      case "integer", "date" -> number.intValueExact();
      default -> number.longValueExact();
    };
  }

  /**
   * Returns the value of a literal that is not null; empty if the literal has another type than the
   * column, and with it perhaps another order.
   */
  public static Optional<Object> of(FieldSpec field, Literal<?> literal) {
    Object value = literal.value();
    if (value == null || !literal.dataType().equals(SparkTypes.columnType(field))) {
      return Optional.empty();
    }
    if (value instanceof Decimal decimal) {
      return Optional.of(decimal.toJavaBigDecimal());
    }
    return value instanceof Number number
        ? Optional.of(BigDecimal.valueOf(number.longValue()))
        : Optional.of(value).filter(v -> v instanceof UTF8String || v instanceof Boolean);
  }

  /** Compares two values of one field, neither of them absent. */
  public static int compare(Object value, Object other) {
    if (value instanceof UTF8String text) {
      // Its own order, by unsigned bytes. Spark 4 refuses compareTo where spark.testing is set.
      return Arrays.compareUnsigned(text.getBytes(), ((UTF8String) other).getBytes());
    }
    return value instanceof Boolean flag
        ? flag.compareTo((Boolean) other)
        : ((BigDecimal) value).compareTo((BigDecimal) other);
  }

  /**
   * Returns elements in the order of their partitions, field by field, absent values first.
   * Elements of one partition stay in their order.
   *
   * @param partition gives the texts of an element
   */
  public static <T> List<T> sorted(
      List<FieldSpec> fields,
      Collection<T> elements,
      Function<T, List<@Nullable String>> partition) {
    List<Placed<T>> placed = new ArrayList<>();
    for (T element : elements) {
      List<@Nullable String> texts = partition.apply(element);
      List<@Nullable Object> values = new ArrayList<>();
      for (int i = 0; i < fields.size(); i++) {
        values.add(of(fields.get(i), texts.get(i)));
      }
      placed.add(new Placed<>(element, values));
    }
    placed.sort(Comparator.comparing(Placed::values, PartitionValues::compareAll));
    return placed.stream().map(Placed::element).toList();
  }

  private record Placed<T>(T element, List<@Nullable Object> values) {}

  private static int compareAll(List<@Nullable Object> values, List<@Nullable Object> others) {
    for (int i = 0; i < values.size(); i++) {
      Object value = values.get(i);
      Object other = others.get(i);
      int compared = value == null || other == null
          ? Boolean.compare(value != null, other != null)
          : compare(value, other);
      if (compared != 0) {
        return compared;
      }
    }
    return 0;
  }

  private static byte[] reversed(byte[] value) {
    byte[] reversed = new byte[value.length];
    for (int i = 0; i < value.length; i++) {
      reversed[i] = value[value.length - 1 - i];
    }
    return reversed;
  }
}
