package io.zrecord.spark.write;

import io.zrecord.nested.NestedColumn;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.spark.column.DecimalBytes;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.table.write.ValueSink;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes structs, maps, and arrays of anything, as nested values. Belongs to one thread. */
final class NestedValueWriter implements ColumnValueWriter {
  private static final int WIDE_DECIMAL_BYTES = 16;
  private static final int MAX_DOUBLED_BYTES = 1 << 20;

  private final NestedColumn values;
  private final Part root;
  private final byte[] wide = new byte[WIDE_DECIMAL_BYTES];
  private byte[] text = new byte[0];
  private byte[] value = new byte[0];

  /** Takes values of one type, which are not null, from Spark's rows, arrays and maps. */
  @FunctionalInterface
  private interface Part {
    void put(SpecializedGetters from, int i, NestedColumn to);
  }

  /** @param column the type of the values in Spark, whose parts may be narrower */
  NestedValueWriter(NestedType type, DataType column) {
    this.values = new NestedColumn(type);
    this.root = part(type, column);
  }

  @Override
  public void write(InternalRow row, int ordinal, ValueSink record) {
    values.clear();
    root.put(row, ordinal, values);
    int length = values.lengthBytes();
    if (value.length < length) {
      value = new byte[(int) Math.min(Integer.MAX_VALUE - 8, Math.max(length, 2L * value.length))];
    }
    values.writeTo(value);
    record.put(ordinal, value, 0, length);
  }

  private Part part(NestedType type, DataType column) {
    if (type instanceof NestedType.Leaf leaf) {
      return element(leaf.element(), column);
    }
    if (type instanceof NestedType.ListOf list) {
      Part element = part(list.element(), ((ArrayType) column).elementType());
      return (from, i, to) -> {
        putAll(from.getArray(i), element, to.child(0));
        to.endValue();
      };
    }
    if (type instanceof NestedType.MapOf map) {
      Part key = part(map.key(), ((MapType) column).keyType());
      Part mapped = part(map.value(), ((MapType) column).valueType());
      return (from, i, to) -> {
        MapData entries = from.getMap(i);
        putAll(entries.keyArray(), key, to.child(0));
        putAll(entries.valueArray(), mapped, to.child(1));
        to.endValue();
      };
    }
    StructField[] fields = ((StructType) column).fields();
    Part[] members = new Part[fields.length];
    for (int k = 0; k < members.length; k++) {
      members[k] = part(type.children().get(k), fields[k].dataType());
    }
    return (from, i, to) -> {
      InternalRow struct = from.getStruct(i, members.length);
      for (int k = 0; k < members.length; k++) {
        if (struct.isNullAt(k)) {
          to.child(k).putAbsent();
        } else {
          members[k].put(struct, k, to.child(k));
        }
      }
      to.endValue();
    };
  }

  private static void putAll(ArrayData array, Part element, NestedColumn to) {
    int count = array.numElements();
    for (int k = 0; k < count; k++) {
      if (array.isNullAt(k)) {
        to.putAbsent();
      } else {
        element.put(array, k, to);
      }
    }
  }

  private Part element(ElementType type, DataType column) {
    if (column instanceof DecimalType decimal) {
      return decimal(decimal, type.widthBytes().orElseThrow());
    }
    if (type.equals(SparkTypes.fixedWidthTypeOf(column).orElse(type))) {
      return element(type);
    }
    Widening.Bits bits = Widening.bits(column, type);
    return switch (type.widthBytes().orElseThrow()) {
      case Short.BYTES -> (from, i, to) -> to.putShort((short) bits.get(from, i));
      case Integer.BYTES -> (from, i, to) -> to.putInt((int) bits.get(from, i));
      default ->
        type.kind() == ElementType.Kind.F64
            ? (from, i, to) -> to.putDouble(from.getFloat(i))
            : (from, i, to) -> to.putLong(bits.get(from, i));
    };
  }

  private Part element(ElementType type) {
    return switch (type.kind()) {
      case BOOL -> (from, i, to) -> to.putBoolean(from.getBoolean(i));
      case I8 -> (from, i, to) -> to.putByte(from.getByte(i));
      case I16 -> (from, i, to) -> to.putShort(from.getShort(i));
      case I32, DATE -> (from, i, to) -> to.putInt(from.getInt(i));
      case I64, TIMESTAMP, TIMESTAMP_NTZ -> (from, i, to) -> to.putLong(from.getLong(i));
      case F32 -> (from, i, to) -> to.putFloat(from.getFloat(i));
      case F64 -> (from, i, to) -> to.putDouble(from.getDouble(i));
      case UTF8 -> this::putText;
      case BYTES ->
        (from, i, to) -> {
          byte[] bytes = from.getBinary(i);
          to.put(bytes, 0, bytes.length);
        };
      case DECIMAL, U8, U16, U32, U64, F16, BF16, NESTED ->
        throw new IllegalArgumentException(
            "A nested value of type " + type + " cannot be written from Spark");
    };
  }

  private Part decimal(DecimalType column, int widthBytes) {
    int precision = column.precision();
    int scale = column.scale();
    return switch (widthBytes) {
      case Integer.BYTES ->
        (from, i, to) -> to.putInt((int) from.getDecimal(i, precision, scale).toUnscaledLong());
      case Long.BYTES ->
        (from, i, to) -> to.putLong(from.getDecimal(i, precision, scale).toUnscaledLong());
      default ->
        (from, i, to) -> {
          DecimalBytes.write(from.getDecimal(i, precision, scale), wide);
          to.put(wide, 0, WIDE_DECIMAL_BYTES);
        };
    };
  }

  /** Copies the bytes from their place in the row, without an array for each text. */
  private void putText(SpecializedGetters from, int i, NestedColumn to) {
    UTF8String given = from.getUTF8String(i);
    int length = given.numBytes();
    if (text.length < length) {
      text = new byte[Math.max(length, Math.min(2 * text.length, MAX_DOUBLED_BYTES))];
    }
    given.writeToMemory(text, Platform.BYTE_ARRAY_OFFSET);
    to.put(text, 0, length);
  }
}
