package io.zrecord.internal.values;

import io.zrecord.schema.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Converts values to the promoted type of their field (FORMAT.md section 7). Stateless. */
public final class PromotedValues {
  private static final long DAY_MICROS = 86_400_000_000L;

  private PromotedValues() {}

  /**
   * Returns the bytes of a value of the wanted type.
   *
   * @param wanted a type that the stored one promotes to
   * @throws ArithmeticException if a date has no timestamp
   */
  public static byte[] convert(byte[] value, ElementType stored, ElementType wanted) {
    if (stored.widthBytes().isEmpty() || stored.widthBytes().equals(wanted.widthBytes())) {
      return value;
    }
    int from = stored.widthBytes().getAsInt();
    int to = wanted.widthBytes().orElseThrow();
    byte[] result = new byte[Math.multiplyExact(value.length / from, to)];
    ByteBuffer in = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer out = ByteBuffer.wrap(result).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0, at = 0; i < value.length; i += from, at += to) {
      switch (stored.kind()) {
        case F32 -> out.putDouble(at, in.getFloat(i));
        case DATE -> out.putLong(at, Math.multiplyExact(in.getInt(i), DAY_MICROS));
        case U8, U16, U32 -> System.arraycopy(value, i, result, at, from);
        default -> {
          System.arraycopy(value, i, result, at, from);
          java.util.Arrays.fill(
              result, at + from, at + to, (byte) (value[i + from - 1] < 0 ? -1 : 0));
        }
      }
    }
    return result;
  }
}
