package io.zrecord.internal.values;

import io.zrecord.schema.ElementType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;

/**
 * Converts values of a promoted type back to the narrower type (FORMAT.md section 7), none of which
 * gets another value by that. Stateless.
 */
public final class NarrowedValues {
  private static final long DAY_MICROS = 86_400_000_000L;

  /** Most bytes of a value in a message. */
  private static final int MOST_SHOWN = 16;

  private NarrowedValues() {}

  /**
   * Returns the bytes of elements of the narrower type.
   *
   * @param value elements one after the other; one value if their width varies
   * @param from a type to which {@code to} promotes
   * @throws ArithmeticException if one does not fit; the message is its value
   */
  public static byte[] convert(byte[] value, ElementType from, ElementType to) {
    if (from.widthBytes().isEmpty()) {
      requireText(value);
      return value;
    }
    int width = from.widthBytes().getAsInt();
    int narrow = to.widthBytes().orElseThrow();
    byte[] result = new byte[value.length / width * narrow];
    ByteBuffer in = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer out = ByteBuffer.wrap(result).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0, at = 0; i < value.length; i += width, at += narrow) {
      switch (to.kind()) {
        case F32 -> out.putFloat(at, toFloat(in.getDouble(i)));
        case DATE -> out.putInt(at, toDays(in.getLong(i)));
        default -> {
          requireFits(value, i, width, narrow, to);
          System.arraycopy(value, i, result, at, narrow);
        }
      }
    }
    return result;
  }

  private static void requireText(byte[] value) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value));
    } catch (CharacterCodingException e) {
      int shown = Math.min(value.length, MOST_SHOWN);
      String hex = HexFormat.of().formatHex(value, 0, shown);
      throw new ArithmeticException("0x" + hex + (shown < value.length ? "…" : ""));
    }
  }

  private static float toFloat(double value) {
    float narrowed = (float) value;
    if (Double.compare(narrowed, value) != 0) {
      throw new ArithmeticException(Double.toString(value));
    }
    return narrowed;
  }

  private static int toDays(long micros) {
    if (Math.floorMod(micros, DAY_MICROS) != 0) {
      Instant time = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
      throw new ArithmeticException(
          LocalDateTime.ofInstant(time, ZoneOffset.UTC).toString());
    }
    return Math.toIntExact(Math.floorDiv(micros, DAY_MICROS));
  }

  /** Requires that an integer, or the digits of a decimal, are one of fewer bytes or digits. */
  private static void requireFits(byte[] value, int at, int width, int narrow, ElementType to) {
    BigInteger whole = integer(value, at, width, isUnsigned(to));
    boolean fits = to.kind() == ElementType.Kind.DECIMAL
        ? whole.abs().compareTo(BigInteger.TEN.pow(to.precision())) < 0
        : whole.equals(integer(value, at, narrow, isUnsigned(to)));
    if (!fits) {
      throw new ArithmeticException(
          to.kind() == ElementType.Kind.DECIMAL
              ? new BigDecimal(whole, to.scale()).toPlainString()
              : whole.toString());
    }
  }

  private static BigInteger integer(byte[] value, int at, int width, boolean isUnsigned) {
    byte[] bigEndian = new byte[width];
    for (int b = 0; b < width; b++) {
      bigEndian[b] = value[at + width - 1 - b];
    }
    return isUnsigned ? new BigInteger(1, bigEndian) : new BigInteger(bigEndian);
  }

  private static boolean isUnsigned(ElementType type) {
    return switch (type.kind()) {
      case U8, U16, U32, U64 -> true;
      default -> false;
    };
  }
}
