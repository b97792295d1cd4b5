package io.zrecord.spark.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a view, and how to compute each column. Built once, then immutable.
 *
 * @param <T> the thing that a row describes
 */
final class ViewColumns<T> {
  private final List<Function<T, @Nullable Object>> values = new ArrayList<>();
  private StructType schema = new StructType();

  ViewColumns<T> string(String name, Function<T, String> value) {
    return add(name, DataTypes.StringType, false, row -> UTF8String.fromString(value.apply(row)));
  }

  ViewColumns<T> stringIfAny(String name, Function<T, Optional<String>> value) {
    return add(
        name,
        DataTypes.StringType,
        true,
        row -> value.apply(row).map(UTF8String::fromString).orElse(null));
  }

  ViewColumns<T> number(String name, Function<T, Long> value) {
    return add(name, DataTypes.LongType, false, value::apply);
  }

  ViewColumns<T> numberIfAny(String name, Function<T, OptionalLong> value) {
    return add(name, DataTypes.LongType, true, row -> {
      OptionalLong number = value.apply(row);
      return number.isPresent() ? (Long) number.getAsLong() : null;
    });
  }

  ViewColumns<T> fraction(String name, Function<T, Double> value) {
    return add(name, DataTypes.DoubleType, false, value::apply);
  }

  /** Adds a column of times, in microseconds since 1970. */
  ViewColumns<T> time(String name, Function<T, Long> micros) {
    return add(name, DataTypes.TimestampType, false, micros::apply);
  }

  private ViewColumns<T> add(
      String name, DataType type, boolean nullable, Function<T, @Nullable Object> value) {
    schema = schema.add(name, type, nullable);
    values.add(value);
    return this;
  }

  StructType schema() {
    return schema;
  }

  /** Returns a function that makes rows of some of the columns. */
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
