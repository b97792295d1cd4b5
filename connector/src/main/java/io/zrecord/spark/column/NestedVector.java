package io.zrecord.spark.column;

import io.zrecord.nested.NestedColumn;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/** Views the values of one type within nested values. Belongs to one task. */
final class NestedVector extends EmptyVector {
  private final NestedColumn values;
  private final ElementVector elements;
  private final NestedVector[] children;
  private final int elementCount;
  private final int widthBytes;

  NestedVector(DataType type, NestedColumn values) {
    super(type);
    this.values = values;
    boolean isLeaf = values.type() instanceof NestedType.Leaf;
    if (values.type() instanceof NestedType.Leaf leaf) {
      DataType elementType = type instanceof ArrayType array ? array.elementType() : type;
      elements = new ElementVector(elementType, leaf.element());
      elementCount = leaf.elementCount();
      widthBytes = leaf.widthBytes();
    } else {
      elements = new ElementVector(type, ElementType.BYTES);
      elementCount = 0;
      widthBytes = 0;
    }
    children = new NestedVector[isLeaf ? 0 : values.type().children().size()];
    for (int k = 0; k < children.length; k++) {
      children[k] = new NestedVector(childType(type, k), values.child(k));
    }
  }

  private static DataType childType(DataType type, int k) {
    if (type instanceof ArrayType array) {
      return array.elementType();
    }
    if (type instanceof MapType map) {
      return k == 0 ? map.keyType() : map.valueType();
    }
    return ((StructType) type).fields()[k].dataType();
  }

  /** Takes over the new values of the column. */
  void load() {
    elements.set(values.data());
    for (NestedVector child : children) {
      child.load();
    }
  }

  @Override
  public boolean hasNull() {
    return values.absentCount() > 0;
  }

  @Override
  public int numNulls() {
    return values.absentCount();
  }

  @Override
  public boolean isNullAt(int i) {
    return values.absentCount() > 0 && values.isAbsent(i);
  }

  @Override
  public boolean getBoolean(int i) {
    return elements.getBoolean(i);
  }

  @Override
  public byte getByte(int i) {
    return elements.getByte(i);
  }

  @Override
  public short getShort(int i) {
    return elements.getShort(i);
  }

  @Override
  public int getInt(int i) {
    return elements.getInt(i);
  }

  @Override
  public long getLong(int i) {
    return elements.getLong(i);
  }

  @Override
  public float getFloat(int i) {
    return elements.getFloat(i);
  }

  @Override
  public double getDouble(int i) {
    return elements.getDouble(i);
  }

  @Override
  public Decimal getDecimal(int i, int precision, int scale) {
    return elements.getDecimal(i, precision, scale);
  }

  @Override
  public UTF8String getUTF8String(int i) {
    return UTF8String.fromBytes(values.data(), values.start(i), values.end(i) - values.start(i));
  }

  /** Returns bytes, or a tensor of {@code u8}. */
  @Override
  public byte[] getBinary(int i) {
    return widthBytes > 0
        ? java.util.Arrays.copyOfRange(values.data(), i * widthBytes, (i + 1) * widthBytes)
        : java.util.Arrays.copyOfRange(values.data(), values.start(i), values.end(i));
  }

  @Override
  public ColumnarArray getArray(int i) {
    return elementCount > 0
        ? new ColumnarArray(elements, i * elementCount, elementCount)
        : new ColumnarArray(children[0], values.start(i), values.end(i) - values.start(i));
  }

  @Override
  public ColumnarMap getMap(int i) {
    return new ColumnarMap(
        children[0], children[1], values.start(i), values.end(i) - values.start(i));
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return children[ordinal];
  }
}
