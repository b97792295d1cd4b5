package io.zrecord.internal.values;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Utf8;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Converts Java values to the bytes of a field's value. */
public final class ValueBytes {
  private ValueBytes() {}

  /**
   * Returns the bytes of a value. An array of bytes is returned as it is.
   *
   * @throws IllegalArgumentException if the kind of the value does not fit the field, the value is
   *     too short, or a text has half a surrogate pair
   * @throws io.zrecord.errors.ValueTooLargeException if the value is longer than its field allows
   */
  public static byte[] of(FieldSpec field, Object value) {
    byte[] bytes = encode(field, value);
    ValueLengths.require(field, bytes.length);
    return bytes;
  }

  /**
   * Requires that bytes are a value of a field.
   *
   * @throws IllegalArgumentException if they are too few, or not those of a nested value
   * @throws io.zrecord.errors.ValueTooLargeException if they are more than the field allows
   */
  public static void require(FieldSpec field, byte[] source, int offset, int lengthBytes) {
    if (field.type().tree() != null) {
      NestedBytes.check(field, Arrays.copyOfRange(source, offset, offset + lengthBytes));
    }
    ValueLengths.require(field, lengthBytes);
  }

  /** Returns a value of a field that takes the fewest bytes: zeros, or an empty one. */
  public static byte[] shortest(FieldSpec field) {
    NestedType tree = field.type().tree();
    return tree == null
        ? new byte[field.valueWidthBytes().orElse(0)]
        : NestedBytes.of(field, tree instanceof NestedType.ListOf ? List.of() : Map.of());
  }

  private static byte[] encode(FieldSpec field, Object value) {
    boolean isNested = field.type().tree() != null;
    if (value instanceof byte[] bytes) {
      if (isNested) {
        NestedBytes.check(field, bytes);
      }
      return bytes;
    }
    if (isNested) {
      return NestedBytes.of(field, value);
    }
    if (value instanceof String text && field.type().equals(ElementType.UTF8)) {
      return Utf8.bytes(field.name(), text);
    }
    if (value instanceof Boolean flag
        && field.type().equals(ElementType.BOOL)
        && field.shape().isScalar()) {
      return new byte[] {(byte) (flag ? 1 : 0)};
    }
    return value instanceof Number number && field.shape().isScalar()
        ? ofNumber(field, number)
        : TensorBytes.of(field, value);
  }

  private static byte[] ofNumber(FieldSpec field, Number number) {
    long bits = switch (field.type().kind()) {
      case F32 -> Float.floatToRawIntBits(number.floatValue());
      case F64 -> Double.doubleToRawLongBits(number.doubleValue());
      case I8 -> integer(field, number, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case U8 -> integer(field, number, 0, 0xff);
      case I16 -> integer(field, number, Short.MIN_VALUE, Short.MAX_VALUE);
      case U16 -> integer(field, number, 0, 0xffff);
      case I32, DATE -> integer(field, number, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case U32 -> integer(field, number, 0, 0xffff_ffffL);
      case I64, TIMESTAMP, TIMESTAMP_NTZ -> integer(field, number, Long.MIN_VALUE, Long.MAX_VALUE);
      case U64 -> integer(field, number, 0, Long.MAX_VALUE);
      default -> throw TensorBytes.doesNotFit(field, number);
    };
    int width = field.type().widthBytes().orElseThrow();
    byte[] eight = new byte[Long.BYTES];
    ByteBuffer.wrap(eight).order(ByteOrder.LITTLE_ENDIAN).putLong(0, bits);
    return Arrays.copyOf(eight, width);
  }

  private static long integer(FieldSpec field, Number number, long lowest, long highest) {
    boolean isInteger = number instanceof Long
        || number instanceof Integer
        || number instanceof Short
        || number instanceof Byte;
    long value = number.longValue();
    if (!isInteger || value < lowest || value > highest) {
      throw TensorBytes.doesNotFit(field, number);
    }
    return value;
  }
}
