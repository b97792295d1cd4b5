package io.zrecord.spark.write;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.column.StringLengths;
import io.zrecord.table.write.PartitionText;
import java.math.BigInteger;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** Takes the value of a partition field from rows. Immutable. */
final class PartitionField {
  private final int ordinal;
  private final FieldSpec field;
  private final Values values;
  private final @Nullable Object absent;

  /** Reads a value that is not null, in a form that {@code equals} compares. */
  @FunctionalInterface
  private interface Values {
    Object get(InternalRow row);
  }

  private PartitionField(int ordinal, FieldSpec field, Values values, @Nullable Object absent) {
    this.ordinal = ordinal;
    this.field = field;
    this.values = values;
    this.absent = absent;
  }

  /**
   * Returns how to read a field that a column has.
   *
   * @param ordinal ordinal of the column
   */
  static PartitionField ofColumn(int ordinal, FieldSpec field, DataType column) {
    return new PartitionField(ordinal, field, values(ordinal, field, column), null);
  }

  /** Returns a field that no column has, and that has its default in each row, or no value. */
  static PartitionField leftOut(FieldSpec field) {
    return new PartitionField(
        -1,
        field,
        row -> {
          throw new IllegalStateException("No column has the field " + field);
        },
        field.rules().write().map(value -> valueOf(field, value)).orElse(null));
  }

  private static Object valueOf(FieldSpec field, byte[] value) {
    return switch (field.type().kind()) {
      case UTF8 -> UTF8String.fromBytes(value);
      default -> new BigInteger(reversed(value));
    };
  }

  private static Values values(int i, FieldSpec field, DataType column) {
    if (field.type().kind() == ElementType.Kind.UTF8) {
      // Spark may keep the type of a varchar or char column, whose values are the same texts.
      UnaryOperator<UTF8String> stored = StringLengths.stored(field);
      return row -> stored.apply(row.getUTF8String(i));
    }
    if (column instanceof DecimalType decimal) {
      int precision = decimal.precision();
      int scale = decimal.scale();
      return row -> row.getDecimal(i, precision, scale)
          .toJavaBigDecimal()
          .setScale(field.type().scale())
          .unscaledValue();
    }
    if (!SparkTypes.columnType(field).equals(column)) {
      Widening.Bits bits = Widening.bits(column, field.type());
      return row -> bits.get(row, i);
    }
    return switch (field.type().kind()) {
      case BOOL -> row -> row.getBoolean(i) ? 1L : 0L;
      case I8 -> row -> (long) row.getByte(i);
      case I16 -> row -> (long) row.getShort(i);
      case I32, DATE -> row -> (long) row.getInt(i);
      default -> row -> row.getLong(i);
    };
  }

  /** Returns the value in a row, valid as long as the row is; null if there is none. */
  @Nullable
  Object value(InternalRow row) {
    return ordinal < 0 || row.isNullAt(ordinal) ? absent : values.get(row);
  }

  /** Returns a value that stays valid. */
  static @Nullable Object kept(@Nullable Object value) {
    return value instanceof UTF8String text ? text.copy() : value;
  }

  /**
   * Returns the text of a value for the partition of a shard.
   *
   * @throws IllegalArgumentException if there can be no partition of the value
   */
  @Nullable
  String text(@Nullable Object value) {
    if (value == null) {
      return null;
    }
    if (value instanceof UTF8String text) {
      return PartitionText.of(field, text.getBytes());
    }
    BigInteger number = value instanceof BigInteger wide ? wide : BigInteger.valueOf((Long) value);
    byte[] bytes = new byte[field.valueWidthBytes().orElseThrow()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = number.shiftRight(8 * i).byteValue();
    }
    return PartitionText.of(field, bytes);
  }

  private static byte[] reversed(byte[] value) {
    byte[] reversed = new byte[value.length];
    for (int i = 0; i < value.length; i++) {
      reversed[i] = value[value.length - 1 - i];
    }
    return reversed;
  }
}
