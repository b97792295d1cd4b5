package io.zrecord.internal.values;

import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Converts Java arrays to the little-endian bytes of a tensor. */
final class TensorBytes {
  private TensorBytes() {}

  /**
   * Returns the bytes of an array. Its elements must be as wide as the field's: integers for
   * integers and floats for floats.
   */
  static byte[] of(FieldSpec field, Object array) {
    int width = field.type().widthBytes().orElse(0);
    boolean isFloat = switch (field.type().kind()) {
      case F32, F64 -> true;
      default -> false;
    };
    if (array instanceof int[] ints && width == 4 && !isFloat) {
      byte[] bytes = new byte[Math.multiplyExact(ints.length, width)];
      littleEndian(bytes).asIntBuffer().put(ints);
      return bytes;
    }
    if (array instanceof long[] longs && width == 8 && !isFloat) {
      byte[] bytes = new byte[Math.multiplyExact(longs.length, width)];
      littleEndian(bytes).asLongBuffer().put(longs);
      return bytes;
    }
    if (array instanceof short[] shorts && width == 2) {
      byte[] bytes = new byte[Math.multiplyExact(shorts.length, width)];
      littleEndian(bytes).asShortBuffer().put(shorts);
      return bytes;
    }
    if (array instanceof float[] floats && width == 4 && isFloat) {
      byte[] bytes = new byte[Math.multiplyExact(floats.length, width)];
      ByteBuffer buffer = littleEndian(bytes);
      for (float value : floats) {
        // Bits, because a conversion could change a NaN.
        buffer.putInt(Float.floatToRawIntBits(value));
      }
      return bytes;
    }
    if (array instanceof double[] doubles && width == 8 && isFloat) {
      byte[] bytes = new byte[Math.multiplyExact(doubles.length, width)];
      ByteBuffer buffer = littleEndian(bytes);
      for (double value : doubles) {
        buffer.putLong(Double.doubleToRawLongBits(value));
      }
      return bytes;
    }
    throw doesNotFit(field, array);
  }

  static IllegalArgumentException doesNotFit(FieldSpec field, Object value) {
    return new IllegalArgumentException("A " + value.getClass().getSimpleName()
        + (value instanceof Number ? " of " + value : "") + " does not fit field '" + field.name()
        + "' of type " + field.type()
        + (field.shape().isScalar() ? "" : field.shape().toString())
        + "; give a value of this type, or its little-endian bytes as byte[]");
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
