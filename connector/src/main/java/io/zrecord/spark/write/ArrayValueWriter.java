package io.zrecord.spark.write;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.table.write.ValueSink;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;
import org.jspecify.annotations.Nullable;

/** Writes arrays of primitive elements as tensors. Belongs to one thread. */
final class ArrayValueWriter implements ColumnValueWriter {
  private final FieldSpec field;
  private final int elementBytes;
  private final Widening.@Nullable Bits wider;
  private ByteBuffer buffer = ByteBuffer.allocate(0);

  /** @param element the type of the elements in Spark, which may be narrower than the field's */
  ArrayValueWriter(FieldSpec field, DataType element) {
    this.field = field;
    this.elementBytes = field.type().widthBytes().orElseThrow();
    ElementType narrow = SparkTypes.fixedWidthTypeOf(element).orElseThrow();
    this.wider = narrow.equals(field.type()) ? null : Widening.bits(element, field.type());
  }

  @Override
  public void write(InternalRow row, int ordinal, ValueSink record) {
    ArrayData array = row.getArray(ordinal);
    int count = array.numElements();
    requireNoNulls(array, count, record.recordCount());
    int length = Math.multiplyExact(count, elementBytes);
    if (wider != null) {
      record.put(ordinal, widened(array, count, length, wider), 0, length);
    } else if (array instanceof UnsafeArrayData unsafe
        && unsafe.getBaseObject() instanceof byte[] base
        && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
      long start = unsafe.getBaseOffset()
          - Platform.BYTE_ARRAY_OFFSET
          + UnsafeArrayData.calculateHeaderPortionInBytes(count);
      record.put(ordinal, base, (int) start, length);
    } else {
      record.put(ordinal, elements(array, count, length), 0, length);
    }
  }

  private byte[] widened(ArrayData array, int count, int length, Widening.Bits bits) {
    clear(length);
    for (int i = 0; i < count; i++) {
      long value = bits.get(array, i);
      switch (elementBytes) {
        case Short.BYTES -> buffer.putShort((short) value);
        case Integer.BYTES -> buffer.putInt((int) value);
        default -> buffer.putLong(value);
      }
    }
    return buffer.array();
  }

  private void clear(int length) {
    if (buffer.capacity() < length) {
      buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }
    buffer.clear();
  }

  private byte[] elements(ArrayData array, int count, int length) {
    clear(length);
    for (int i = 0; i < count; i++) {
      switch (field.type().kind()) {
        case BOOL -> buffer.put((byte) (array.getBoolean(i) ? 1 : 0));
        case I8 -> buffer.put(array.getByte(i));
        case I16 -> buffer.putShort(array.getShort(i));
        case I32, DATE -> buffer.putInt(array.getInt(i));
        case I64, TIMESTAMP, TIMESTAMP_NTZ -> buffer.putLong(array.getLong(i));
        case F32 -> buffer.putInt(Float.floatToRawIntBits(array.getFloat(i)));
        case F64 -> buffer.putLong(Double.doubleToRawLongBits(array.getDouble(i)));
        default ->
          throw new IllegalStateException(
              "Arrays of " + field.type() + " are refused before a task starts");
      }
    }
    return buffer.array();
  }

  private void requireNoNulls(ArrayData array, int count, long record) {
    for (int i = 0; i < count; i++) {
      if (array.isNullAt(i)) {
        throw new SchemaMismatchException(
            field.name(),
            "Cannot write row " + record + " of a task: element " + i + " of the " + count
                + " in column '" + field.name()
                + "' is null; a tensor has no null elements. Replace or filter them, for example with filter("
                + field.name()
                + ", x -> x is not null), or write a new field with the option shape."
                + field.name() + "=list, which stores them");
      }
    }
  }
}
