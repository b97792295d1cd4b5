package io.zrecord.spark.write;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.DecimalBytes;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.column.StringLengths;
import io.zrecord.table.write.ValueSink;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Chooses, once for each column, how to take its values from Spark's rows. */
public final class RowWriters {
  private RowWriters() {}

  /**
   * Returns a writer for each column.
   *
   * @param fields the field of each column, in the same order
   */
  public static ColumnValueWriter[] of(StructType columns, RecordSchema fields) {
    ColumnValueWriter[] writers = new ColumnValueWriter[columns.length()];
    for (int i = 0; i < writers.length; i++) {
      writers[i] = of(columns.fields()[i].dataType(), fields.fields().get(i));
    }
    return writers;
  }

  /**
   * Returns a writer of one column.
   *
   * @throws IllegalArgumentException if values of the column are none of the field
   */
  public static ColumnValueWriter of(DataType column, FieldSpec field) {
    return field.type().tree() != null
        ? new NestedValueWriter(field.type().requireTree(), column)
        : column instanceof ArrayType array
            ? new ArrayValueWriter(field, array.elementType())
            : single(field, column);
  }

  private static ColumnValueWriter single(FieldSpec field, DataType column) {
    // Bytes and texts are what they are; a number may be narrower than the field.
    ElementType narrow = SparkTypes.fixedWidthTypeOf(column).orElse(field.type());
    if (narrow.equals(field.type())) {
      return single(field);
    }
    if (!Widening.allows(narrow, field.type())) {
      throw new IllegalArgumentException("Cannot write values of type " + column.catalogString()
          + " to the field '" + field.name() + "' of type " + field.type()
          + "; write the field by the engine, in Java or Python");
    }
    return column instanceof DecimalType decimal
        ? decimal(decimal, field.type())
        : widened(Widening.bits(column, field.type()), field.type());
  }

  private static ColumnValueWriter widened(Widening.Bits bits, ElementType type) {
    return switch (type.widthBytes().orElseThrow()) {
      case Short.BYTES -> (row, i, record) -> record.putShort(i, (short) bits.get(row, i));
      case Integer.BYTES -> (row, i, record) -> record.putInt(i, (int) bits.get(row, i));
      default -> (row, i, record) -> record.putLong(i, bits.get(row, i));
    };
  }

  private static ColumnValueWriter single(FieldSpec field) {
    ElementType type = field.type();
    return switch (type.kind()) {
      case BOOL -> (row, i, record) -> record.putByte(i, (byte) (row.getBoolean(i) ? 1 : 0));
      case I8 -> (row, i, record) -> record.putByte(i, row.getByte(i));
      case I16 -> (row, i, record) -> record.putShort(i, row.getShort(i));
      case I32, DATE -> (row, i, record) -> record.putInt(i, row.getInt(i));
      case I64, TIMESTAMP, TIMESTAMP_NTZ -> (row, i, record) -> record.putLong(i, row.getLong(i));
      case F32 -> (row, i, record) -> record.putFloat(i, row.getFloat(i));
      case F64 -> (row, i, record) -> record.putDouble(i, row.getDouble(i));
      case DECIMAL -> decimal(DataTypes.createDecimalType(type.precision(), type.scale()), type);
      case BYTES, U8 -> RowWriters::writeBinary;
      case UTF8 -> text(field);
      case U16, U32, U64, F16, BF16, NESTED ->
        throw new IllegalArgumentException(
            "Field '" + field.name() + "' of type " + type + " cannot be written from Spark");
    };
  }

  private static ColumnValueWriter decimal(DecimalType column, ElementType type) {
    int precision = column.precision();
    int scale = column.scale();
    return switch (type.widthBytes().orElseThrow()) {
      case 4 ->
        (row, i, record) ->
            record.putInt(i, (int) row.getDecimal(i, precision, scale).toUnscaledLong());
      case 8 ->
        (row, i, record) ->
            record.putLong(i, row.getDecimal(i, precision, scale).toUnscaledLong());
      default -> new WideDecimalWriter(precision, scale);
    };
  }

  private static void writeBinary(InternalRow row, int i, ValueSink record) {
    if (!writeVariable(row, i, record)) {
      byte[] value = row.getBinary(i);
      record.put(i, value, 0, value.length);
    }
  }

  private static ColumnValueWriter text(FieldSpec field) {
    if (StringLengths.mostCharacters(field).isEmpty()) {
      return RowWriters::writeString;
    }
    UnaryOperator<UTF8String> stored = StringLengths.stored(field);
    return (row, i, record) -> {
      byte[] value = stored.apply(row.getUTF8String(i)).getBytes();
      record.put(i, value, 0, value.length);
    };
  }

  private static void writeString(InternalRow row, int i, ValueSink record) {
    if (!writeVariable(row, i, record)) {
      byte[] value = row.getUTF8String(i).getBytes();
      record.put(i, value, 0, value.length);
    }
  }

  /** Takes the bytes from their place in the row: {@code getBinary} would copy each value first. */
  private static boolean writeVariable(InternalRow row, int i, ValueSink record) {
    if (row instanceof UnsafeRow unsafe && unsafe.getBaseObject() instanceof byte[] base) {
      long offsetAndLength = unsafe.getLong(i);
      int offset = (int) (offsetAndLength >> 32);
      long start = unsafe.getBaseOffset() - Platform.BYTE_ARRAY_OFFSET + offset;
      record.put(i, base, (int) start, (int) offsetAndLength);
      return true;
    }
    return false;
  }

  private static final class WideDecimalWriter implements ColumnValueWriter {
    private static final int BYTES = 16;

    private final int precision;
    private final int scale;
    private final byte[] value = new byte[BYTES];

    WideDecimalWriter(int precision, int scale) {
      this.precision = precision;
      this.scale = scale;
    }

    @Override
    public void write(InternalRow row, int i, ValueSink record) {
      DecimalBytes.write(row.getDecimal(i, precision, scale), value);
      record.put(i, value, 0, BYTES);
    }
  }
}
