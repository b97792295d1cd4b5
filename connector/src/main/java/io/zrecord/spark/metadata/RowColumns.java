package io.zrecord.spark.metadata;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a metadata table, and how to compute each column. Built once, then immutable.
 *
 * @param <T> the thing that a row describes
 */
final class RowColumns<T> {
  private final List<Function<T, @Nullable Object>> values = new ArrayList<>();
  private StructType schema = new StructType();

  RowColumns<T> string(String name, String comment, Function<T, String> value) {
    return add(name, DataTypes.StringType, false, comment, row -> text(value.apply(row)));
  }

  RowColumns<T> stringIfAny(String name, String comment, Function<T, Optional<String>> value) {
    return add(
        name,
        DataTypes.StringType,
        true,
        comment,
        row -> value.apply(row).map(UTF8String::fromString).orElse(null));
  }

  RowColumns<T> number(String name, String comment, Function<T, Long> value) {
    return add(name, DataTypes.LongType, false, comment, value::apply);
  }

  RowColumns<T> numberIfAny(String name, String comment, Function<T, OptionalLong> value) {
    return add(name, DataTypes.LongType, true, comment, row -> {
      OptionalLong number = value.apply(row);
      return number.isPresent() ? (Long) number.getAsLong() : null;
    });
  }

  RowColumns<T> fraction(String name, String comment, Function<T, Double> value) {
    return add(name, DataTypes.DoubleType, false, comment, value::apply);
  }

  RowColumns<T> flagIfAny(String name, String comment, Function<T, Optional<Boolean>> value) {
    return add(
        name, DataTypes.BooleanType, true, comment, row -> value.apply(row).orElse(null));
  }

  /** Adds a column of times, in microseconds since 1970. */
  RowColumns<T> time(String name, String comment, Function<T, Long> micros) {
    return add(name, DataTypes.TimestampType, false, comment, micros::apply);
  }

  RowColumns<T> strings(String name, String comment, Function<T, List<String>> value) {
    return add(
        name,
        DataTypes.createArrayType(DataTypes.StringType, false),
        false,
        comment,
        row -> texts(value.apply(row)));
  }

  RowColumns<T> stringsIfAny(
      String name, String comment, Function<T, Optional<List<String>>> value) {
    return add(
        name,
        DataTypes.createArrayType(DataTypes.StringType, false),
        true,
        comment,
        row -> value.apply(row).map(RowColumns::texts).orElse(null));
  }

  RowColumns<T> numbersIfAny(String name, String comment, Function<T, Optional<List<Long>>> value) {
    return add(
        name,
        DataTypes.createArrayType(DataTypes.LongType, false),
        true,
        comment,
        row -> value
            .apply(row)
            .map(numbers -> new GenericArrayData(numbers.toArray()))
            .orElse(null));
  }

  RowColumns<T> stringsByName(String name, String comment, Function<T, Map<String, String>> value) {
    return byName(name, DataTypes.StringType, comment, value, RowColumns::text);
  }

  RowColumns<T> numbersByName(String name, String comment, Function<T, Map<String, Long>> value) {
    return byName(name, DataTypes.LongType, comment, value, number -> number);
  }

  private <V> RowColumns<T> byName(
      String name,
      DataType type,
      String comment,
      Function<T, Map<String, V>> value,
      Function<V, Object> internal) {
    return add(
        name, DataTypes.createMapType(DataTypes.StringType, type, false), false, comment, row -> {
          Map<String, V> sorted = new TreeMap<>(value.apply(row));
          return new ArrayBasedMapData(
              texts(sorted.keySet()),
              new GenericArrayData(sorted.values().stream().map(internal).toArray()));
        });
  }

  /** Adds a column of structs, whose value is a row of Spark. */
  RowColumns<T> struct(
      String name, StructType type, String comment, Function<T, InternalRow> value) {
    return add(name, type, false, comment, value::apply);
  }

  private RowColumns<T> add(
      String name,
      DataType type,
      boolean nullable,
      String comment,
      Function<T, @Nullable Object> value) {
    schema = schema.add(name, type, nullable, comment);
    values.add(value);
    return this;
  }

  private static UTF8String text(String text) {
    return UTF8String.fromString(text);
  }

  private static GenericArrayData texts(Collection<String> texts) {
    return new GenericArrayData(texts.stream().map(UTF8String::fromString).toArray());
  }

  StructType schema() {
    return schema;
  }

  /** Returns a function that makes rows of some of the columns. Computes no other column. */
  Function<T, InternalRow> rows(StructType columns) {
    List<Function<T, @Nullable Object>> wanted = new ArrayList<>();
    for (String name : columns.fieldNames()) {
      wanted.add(values.get(schema.fieldIndex(name)));
    }
    return row -> {
      @Nullable Object[] cells = new Object[wanted.size()];
      for (int i = 0; i < cells.length; i++) {
        cells[i] = wanted.get(i).apply(row);
      }
      return new GenericInternalRow(cells);
    };
  }
}
