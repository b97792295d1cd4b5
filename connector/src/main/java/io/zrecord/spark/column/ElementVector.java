package io.zrecord.spark.column;

import io.zrecord.schema.ElementType;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;

/**
 * Elements of one type, none of them null, over an array of bytes: the child of an array column.
 * Belongs to one task.
 */
final class ElementVector extends EmptyVector {
  private static final int WIDE_DECIMAL_BYTES = 16;

  private final ElementType element;
  private byte[] data = new byte[0];

  ElementVector(DataType type, ElementType element) {
    super(type);
    this.element = element;
  }

  void set(byte[] newData) {
    data = newData;
  }

  @Override
  public boolean getBoolean(int i) {
    return data[i] != 0;
  }

  @Override
  public byte getByte(int i) {
    return data[i];
  }

  @Override
  public short getShort(int i) {
    return element.kind() == ElementType.Kind.U8
        ? (short) (data[i] & 0xff)
        : LittleEndian.shortAt(data, i);
  }

  @Override
  public int getInt(int i) {
    return element.kind() == ElementType.Kind.U16
        ? LittleEndian.shortAt(data, i) & 0xffff
        : LittleEndian.intAt(data, i);
  }

  @Override
  public long getLong(int i) {
    return element.kind() == ElementType.Kind.U32
        ? LittleEndian.intAt(data, i) & 0xffff_ffffL
        : LittleEndian.longAt(data, i);
  }

  @Override
  public float getFloat(int i) {
    return switch (element.kind()) {
      case F16 -> SmallFloats.fromHalf(LittleEndian.shortAt(data, i));
      case BF16 -> Float.intBitsToFloat(LittleEndian.shortAt(data, i) << 16);
      default -> Float.intBitsToFloat(LittleEndian.intAt(data, i));
    };
  }

  @Override
  public double getDouble(int i) {
    return Double.longBitsToDouble(LittleEndian.longAt(data, i));
  }

  @Override
  public Decimal getDecimal(int i, int precision, int scale) {
    if (element.kind() == ElementType.Kind.U64) {
      long value = LittleEndian.longAt(data, i);
      return Decimal.apply(
          new BigDecimal(new BigInteger(Long.toUnsignedString(value))), precision, scale);
    }
    return switch (element.widthBytes().orElseThrow()) {
      case 4 -> Decimal.createUnsafe(LittleEndian.intAt(data, i), precision, scale);
      case 8 -> Decimal.createUnsafe(LittleEndian.longAt(data, i), precision, scale);
      default -> Decimal.apply(new BigDecimal(wide(i), scale), precision, scale);
    };
  }

  private BigInteger wide(int i) {
    byte[] bigEndian = new byte[WIDE_DECIMAL_BYTES];
    for (int b = 0; b < WIDE_DECIMAL_BYTES; b++) {
      bigEndian[b] = data[i * WIDE_DECIMAL_BYTES + WIDE_DECIMAL_BYTES - 1 - b];
    }
    return new BigInteger(bigEndian);
  }
}
