package io.zrecord.table.write;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Utf8;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * The one text of each value of a partition field (FORMAT.md section 7). Two values are equal if
 * and only if their texts are. Stateless and thread-safe.
 */
public final class PartitionText {
  /** Longest text, in bytes of UTF-8. */
  public static final int MAX_BYTES = 1024;

  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS", Locale.ROOT);
  private static final long MICROS_PER_SECOND = 1_000_000;
  private static final int LAST_YEAR = 9999;

  private PartitionText() {}

  /**
   * Tells whether records may be partitioned by a field: a single integer, bool, decimal, date,
   * timestamp or string.
   */
  public static boolean isAllowed(FieldSpec field) {
    return field.shape().isScalar()
        && switch (field.type().kind()) {
          case F16, BF16, F32, F64, BYTES, NESTED -> false;
          default -> true;
        };
  }

  /**
   * Returns the text of a value, which is given in little-endian bytes.
   *
   * @throws IllegalArgumentException if the value cannot be that of a partition: a year after 9999
   *     or before 0, a long string, or bytes that are no value of the field
   */
  public static String of(FieldSpec field, byte[] value) {
    if (field.valueWidthBytes().isPresent() && field.valueWidthBytes().getAsInt() != value.length) {
      throw notAValue(field, value.length + " bytes");
    }
    return switch (field.type().kind()) {
      case BOOL -> bool(field, value[0]);
      case I8, I16, I32, I64, DECIMAL ->
        new BigDecimal(new BigInteger(reversed(value)), field.type().scale()).toPlainString();
      case U8, U16, U32, U64 -> new BigInteger(1, reversed(value)).toString();
      case DATE -> date(field, new BigInteger(reversed(value)).intValue());
      case TIMESTAMP -> timestamp(field, new BigInteger(reversed(value)).longValue()) + "Z";
      case TIMESTAMP_NTZ -> timestamp(field, new BigInteger(reversed(value)).longValue());
      case UTF8 -> string(field, value);
      default ->
        throw new IllegalArgumentException("Field '" + field.name() + "' of type " + field.type()
            + " cannot be a partition field; integers, bool, decimals, dates, timestamps and"
            + " strings can");
    };
  }

  /**
   * Returns the value of a text, in little-endian bytes.
   *
   * @throws IllegalArgumentException if the text is not the one of a value of the field
   */
  public static byte[] parse(FieldSpec field, String text) {
    byte[] value;
    try {
      value = switch (field.type().kind()) {
        case BOOL -> new byte[] {(byte) (text.equals("true") ? 1 : 0)};
        case DATE -> bytes(4, BigInteger.valueOf(LocalDate.parse(text).toEpochDay()));
        case TIMESTAMP ->
          bytes(8, micros(text.endsWith("Z") ? text.substring(0, text.length() - 1) : ""));
        case TIMESTAMP_NTZ -> bytes(8, micros(text));
        case UTF8 -> Utf8.bytes(field.name(), text);
        default ->
          bytes(
              field.valueWidthBytes().orElse(0),
              new BigDecimal(text).setScale(field.type().scale()).unscaledValue());
      };
    } catch (java.time.DateTimeException | ArithmeticException | NumberFormatException e) {
      throw notAValue(field, "'" + text + "'");
    }
    if (!of(field, value).equals(text)) {
      throw notAValue(field, "'" + text + "'");
    }
    return value;
  }

  private static String bool(FieldSpec field, byte value) {
    if (value != 0 && value != 1) {
      throw notAValue(field, "byte " + value);
    }
    return value == 1 ? "true" : "false";
  }

  private static String date(FieldSpec field, int days) {
    LocalDate date = LocalDate.ofEpochDay(days);
    requireYear(field, date.getYear());
    return date.toString();
  }

  private static String timestamp(FieldSpec field, long micros) {
    LocalDateTime time = LocalDateTime.ofEpochSecond(
        Math.floorDiv(micros, MICROS_PER_SECOND),
        (int) Math.floorMod(micros, MICROS_PER_SECOND) * 1000,
        ZoneOffset.UTC);
    requireYear(field, time.getYear());
    return MICROS.format(time);
  }

  private static BigInteger micros(String text) {
    return BigInteger.valueOf(ChronoUnit.MICROS.between(
        LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC), LocalDateTime.parse(text, MICROS)));
  }

  private static void requireYear(FieldSpec field, int year) {
    if (year < 0 || year > LAST_YEAR) {
      throw notAValue(field, "year " + year);
    }
  }

  private static String string(FieldSpec field, byte[] value) {
    try {
      if (value.length <= MAX_BYTES) {
        return StandardCharsets.UTF_8
            .newDecoder()
            .decode(ByteBuffer.wrap(value))
            .toString();
      }
    } catch (CharacterCodingException e) {
      throw notAValue(field, "a string that is no UTF-8");
    }
    throw notAValue(field, "a string of " + value.length + " bytes");
  }

  private static byte[] reversed(byte[] value) {
    byte[] reversed = new byte[value.length];
    for (int i = 0; i < value.length; i++) {
      reversed[i] = value[value.length - 1 - i];
    }
    return reversed;
  }

  /** Returns the low bytes of a number, whose loss {@link #parse} notices. */
  private static byte[] bytes(int width, BigInteger number) {
    byte[] value = new byte[width];
    ByteBuffer buffer = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < width; i++) {
      buffer.put(number.shiftRight(8 * i).byteValue());
    }
    return value;
  }

  private static IllegalArgumentException notAValue(FieldSpec field, String found) {
    ElementType type = field.type();
    return new IllegalArgumentException("Field '" + field.name() + "' of type " + type
        + " has no partition with the value " + found
        + ": the text of a value has one form, years are 0 to 9999, and strings have at most "
        + MAX_BYTES + " bytes");
  }
}
