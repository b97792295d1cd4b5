package io.zrecord.spark.column;

import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The vector for each type of column. Fixed-width values are copied in bulk, once for each batch.
 * No value is copied separately.
 */
public final class FieldColumns {
  private FieldColumns() {}

  public static FieldColumn of(FieldSpec field) {
    DataType type = SparkTypes.columnType(field);
    if (field.type().tree() != null) {
      return new NestedFieldColumn(type, field.type().requireTree());
    }
    if (type.equals(DataTypes.BinaryType)) {
      return new BinaryColumn();
    }
    if (type.equals(DataTypes.StringType)) {
      return new StringColumn();
    }
    if (type instanceof ArrayType) {
      return new ArrayColumn(type, field.type());
    }
    return scalar(type, field.type());
  }

  private static FieldColumn scalar(DataType type, ElementType element) {
    return switch (element.kind()) {
      case BOOL, I8 -> new ByteColumn(type);
      case I16 -> new ShortColumn();
      case I32, DATE -> new IntColumn(type);
      case I64, TIMESTAMP, TIMESTAMP_NTZ -> new LongColumn(type);
      case F32 -> new FloatColumn();
      case F64 -> new DoubleColumn();
      default -> new ConvertedColumn(type, element);
    };
  }

  private static final class BinaryColumn extends FieldColumn {
    BinaryColumn() {
      super(DataTypes.BinaryType);
    }

    /**
     * Loads nothing. A value is copied straight from the file into the array that Spark wants, and
     * only if Spark asks for the value.
     */
    @Override
    void loadValues(FieldReader source) {}

    @Override
    public byte[] getBinary(int row) {
      return reader().value(row);
    }
  }

  private static final class StringColumn extends FieldColumn {
    private byte[] data = new byte[0];
    private int[] starts = new int[1];

    StringColumn() {
      super(DataTypes.StringType);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
      starts = startsOf(source, starts, 1);
    }

    @Override
    public UTF8String getUTF8String(int row) {
      return UTF8String.fromBytes(data, starts[row], starts[row + 1] - starts[row]);
    }
  }

  private static final class ArrayColumn extends FieldColumn {
    private final ElementVector elements;
    private final int elementBytes;
    private byte[] data = new byte[0];
    private int[] starts = new int[1];
    private int width;

    ArrayColumn(DataType type, ElementType element) {
      super(type);
      elements = new ElementVector(((ArrayType) type).elementType(), element);
      elementBytes = element.widthBytes().orElseThrow();
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
      elements.set(data);
      width = source.field().valueWidthBytes().orElse(-1);
      if (width < 0) {
        starts = startsOf(source, starts, elementBytes);
      }
    }

    @Override
    public ColumnarArray getArray(int row) {
      if (width >= 0) {
        int count = width / elementBytes;
        return new ColumnarArray(elements, row * count, count);
      }
      return new ColumnarArray(elements, starts[row], starts[row + 1] - starts[row]);
    }

    @Override
    public org.apache.spark.sql.vectorized.ColumnVector getChild(int ordinal) {
      return elements;
    }
  }

  /**
   * Returns where each value begins in a copy of all values, and where the last value ends, in
   * units of {@code unitBytes}.
   */
  private static int[] startsOf(FieldReader source, int[] reused, int unitBytes) {
    int count = source.count();
    int[] starts = reused.length > count ? reused : new int[count + 1];
    int at = 0;
    for (int i = 0; i < count; i++) {
      starts[i] = at;
      at += source.lengthBytes(i) / unitBytes;
    }
    starts[count] = at;
    return starts;
  }

  private static final class ByteColumn extends FieldColumn {
    private byte[] data = new byte[0];

    ByteColumn(DataType type) {
      super(type);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
    }

    @Override
    public boolean getBoolean(int row) {
      return data[row] != 0;
    }

    @Override
    public byte getByte(int row) {
      return data[row];
    }
  }

  private static final class ShortColumn extends FieldColumn {
    private byte[] data = new byte[0];

    ShortColumn() {
      super(DataTypes.ShortType);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
    }

    @Override
    public short getShort(int row) {
      return LittleEndian.shortAt(data, row);
    }
  }

  private static final class IntColumn extends FieldColumn {
    private byte[] data = new byte[0];

    IntColumn(DataType type) {
      super(type);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
    }

    @Override
    public int getInt(int row) {
      return LittleEndian.intAt(data, row);
    }
  }

  private static final class LongColumn extends FieldColumn {
    private byte[] data = new byte[0];

    LongColumn(DataType type) {
      super(type);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
    }

    @Override
    public long getLong(int row) {
      return LittleEndian.longAt(data, row);
    }
  }

  private static final class FloatColumn extends FieldColumn {
    private byte[] data = new byte[0];

    FloatColumn() {
      super(DataTypes.FloatType);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
    }

    @Override
    public float getFloat(int row) {
      return Float.intBitsToFloat(LittleEndian.intAt(data, row));
    }
  }

  private static final class DoubleColumn extends FieldColumn {
    private byte[] data = new byte[0];

    DoubleColumn() {
      super(DataTypes.DoubleType);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
    }

    @Override
    public double getDouble(int row) {
      return Double.longBitsToDouble(LittleEndian.longAt(data, row));
    }
  }

  /**
   * A column of a type that Spark has in another form: decimals, unsigned integers, small floats.
   */
  private static final class ConvertedColumn extends FieldColumn {
    private final ElementVector elements;
    private byte[] data = new byte[0];

    ConvertedColumn(DataType type, ElementType element) {
      super(type);
      elements = new ElementVector(type, element);
    }

    @Override
    void loadValues(FieldReader source) {
      data = copyAll(source, data);
      elements.set(data);
    }

    @Override
    public short getShort(int row) {
      return elements.getShort(row);
    }

    @Override
    public int getInt(int row) {
      return elements.getInt(row);
    }

    @Override
    public long getLong(int row) {
      return elements.getLong(row);
    }

    @Override
    public float getFloat(int row) {
      return elements.getFloat(row);
    }

    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
      return elements.getDecimal(row, precision, scale);
    }
  }
}
