package io.zrecord.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.zrecord.schema.ElementType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;

/**
 * Converts one element of a value to JSON and back. Numbers are numbers; decimals, dates and times
 * are strings in the form of ISO 8601. Floating-point values that JSON lacks are the strings
 * {@code NaN}, {@code Infinity} and {@code -Infinity}. Stateless.
 */
public final class ElementJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final long MICROS = 1_000_000;
  private static final int NANOS_PER_MICRO = 1_000;

  private ElementJson() {}

  /**
   * Returns the element at the position of a little-endian buffer, and moves the position after the
   * element.
   */
  public static JsonNode read(ElementType type, ByteBuffer from) {
    return switch (type.kind()) {
      case BOOL -> JSON.booleanNode(from.get() != 0);
      case I8 -> JSON.numberNode(from.get());
      case U8 -> JSON.numberNode(from.get() & 0xff);
      case I16 -> JSON.numberNode(from.getShort());
      case U16 -> JSON.numberNode(from.getShort() & 0xffff);
      case I32 -> JSON.numberNode(from.getInt());
      case U32 -> JSON.numberNode(from.getInt() & 0xffff_ffffL);
      case I64 -> JSON.numberNode(from.getLong());
      case U64 -> JSON.numberNode(new BigInteger(Long.toUnsignedString(from.getLong())));
      case F16 -> JSON.numberNode(HalfFloats.ofF16(from.getShort()));
      case BF16 -> JSON.numberNode(HalfFloats.ofBf16(from.getShort()));
      case F32 -> JSON.numberNode(from.getFloat());
      case F64 -> JSON.numberNode(from.getDouble());
      case DATE -> JSON.textNode(LocalDate.ofEpochDay(from.getInt()).toString());
      case TIMESTAMP -> JSON.textNode(instant(from.getLong()).toString());
      case TIMESTAMP_NTZ ->
        JSON.textNode(
            LocalDateTime.ofInstant(instant(from.getLong()), ZoneOffset.UTC).toString());
      case DECIMAL ->
        JSON.textNode(new BigDecimal(unscaled(type, from), type.scale()).toPlainString());
      case BYTES, UTF8, NESTED -> throw new IllegalArgumentException(type + " has no elements");
    };
  }

  private static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, MICROS), Math.floorMod(micros, MICROS) * NANOS_PER_MICRO);
  }

  private static BigInteger unscaled(ElementType type, ByteBuffer from) {
    byte[] bytes = new byte[type.widthBytes().orElseThrow()];
    for (int i = bytes.length - 1; i >= 0; i--) {
      bytes[i] = from.get();
    }
    return new BigInteger(bytes);
  }

  /**
   * Appends an element to a little-endian buffer.
   *
   * @throws IllegalArgumentException if the node is not an element of this type; the message says
   *     what is allowed
   */
  public static void write(ElementType type, JsonNode node, ByteBuffer to) {
    try {
      put(type, node, to);
    } catch (ArithmeticException | DateTimeParseException | NumberFormatException e) {
      throw unfit(type, node, e);
    }
  }

  private static void put(ElementType type, JsonNode node, ByteBuffer to) {
    switch (type.kind()) {
      case BOOL -> {
        if (!node.isBoolean()) {
          throw unfit(type, node, null);
        }
        to.put((byte) (node.booleanValue() ? 1 : 0));
      }
      case I8, U8, I16, U16, I32, U32, I64, U64 -> putInteger(type, node, to);
      case F16 -> to.putShort(HalfFloats.toF16((float) number(type, node)));
      case BF16 -> to.putShort(HalfFloats.toBf16((float) number(type, node)));
      case F32 -> to.putFloat((float) number(type, node));
      case F64 -> to.putDouble(number(type, node));
      case DATE -> to.putInt(Math.toIntExact(LocalDate.parse(node.asText()).toEpochDay()));
      case TIMESTAMP -> to.putLong(micros(Instant.parse(node.asText())));
      case TIMESTAMP_NTZ ->
        to.putLong(micros(LocalDateTime.parse(node.asText()).toInstant(ZoneOffset.UTC)));
      case DECIMAL -> putDecimal(type, node, to);
      case BYTES, UTF8, NESTED -> throw new IllegalArgumentException(type + " has no elements");
    }
  }

  private static long micros(Instant time) {
    if (time.getNano() % NANOS_PER_MICRO != 0) {
      throw new ArithmeticException("A microsecond is the shortest time that is kept");
    }
    long micros = time.getNano() / NANOS_PER_MICRO;
    long seconds = time.getEpochSecond();
    // Rounds towards zero, so that the earliest times do not overflow on the way.
    return seconds < 0
        ? Math.addExact(Math.multiplyExact(seconds + 1, MICROS), micros - MICROS)
        : Math.addExact(Math.multiplyExact(seconds, MICROS), micros);
  }

  private static void putInteger(ElementType type, JsonNode node, ByteBuffer to) {
    int bytes = type.widthBytes().orElseThrow();
    boolean isSigned = type.toString().startsWith("i");
    BigInteger lowest =
        isSigned ? BigInteger.ONE.shiftLeft(8 * bytes - 1).negate() : BigInteger.ZERO;
    BigInteger highest =
        BigInteger.ONE.shiftLeft(isSigned ? 8 * bytes - 1 : 8 * bytes).subtract(BigInteger.ONE);
    BigInteger value = node.isIntegralNumber() ? node.bigIntegerValue() : null;
    if (value == null || value.compareTo(lowest) < 0 || value.compareTo(highest) > 0) {
      throw new IllegalArgumentException(
          node + " is no " + type + ": expected an integer from " + lowest + " to " + highest);
    }
    long bits = value.longValue();
    for (int i = 0; i < bytes; i++) {
      to.put((byte) (bits >> (8 * i)));
    }
  }

  private static double number(ElementType type, JsonNode node) {
    if (node.isNumber()) {
      return node.doubleValue();
    }
    return switch (node.asText()) {
      case "NaN" -> Double.NaN;
      case "Infinity" -> Double.POSITIVE_INFINITY;
      case "-Infinity" -> Double.NEGATIVE_INFINITY;
      default -> throw unfit(type, node, null);
    };
  }

  private static void putDecimal(ElementType type, JsonNode node, ByteBuffer to) {
    BigDecimal value = new BigDecimal(node.asText()).setScale(type.scale());
    if (value.precision() > type.precision()) {
      throw unfit(type, node, null);
    }
    byte[] bytes = value.unscaledValue().toByteArray();
    int width = type.widthBytes().orElseThrow();
    for (int i = 0; i < width; i++) {
      int sign = value.signum() < 0 ? -1 : 0;
      to.put(i < bytes.length ? bytes[bytes.length - 1 - i] : (byte) sign);
    }
  }

  private static IllegalArgumentException unfit(
      ElementType type, JsonNode node, @org.jspecify.annotations.Nullable RuntimeException e) {
    String expected = switch (type.kind()) {
      case BOOL -> "true or false";
      case DATE -> "a date such as 2026-11-21";
      case TIMESTAMP -> "a time such as 2026-11-21T08:00:00Z";
      case TIMESTAMP_NTZ -> "a time such as 2026-11-21T08:00:00";
      case DECIMAL ->
        "a number of at most " + type.precision() + " digits, " + type.scale()
            + " of them behind the point";
      default -> "a number, \"NaN\", \"Infinity\" or \"-Infinity\"";
    };
    return new IllegalArgumentException(node + " is no " + type + ": expected " + expected, e);
  }
}
