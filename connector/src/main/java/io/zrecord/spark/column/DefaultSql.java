package io.zrecord.spark.column;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.sql.types.DataType;

/** Says the default of a field in SQL, which is how Spark wants to have it. Stateless. */
final class DefaultSql {
  private static final long MICROS = 1_000_000;

  private DefaultSql() {}

  /**
   * Returns an expression for the value of records for which no value is set: the declared one if
   * it is no constant. Empty if the value is absent, or a constant of a type that Spark does not
   * write.
   */
  static Optional<String> of(FieldSpec field) {
    if (field.rules().hasDefaultExpression()) {
      return Optional.ofNullable(field.rules().defaultSql());
    }
    return field.rules().write().flatMap(value -> expression(field, value));
  }

  private static Optional<String> expression(FieldSpec field, byte[] value) {
    ElementType type = field.type();
    if (field.shape().isScalar() || type.kind() == ElementType.Kind.U8) {
      return single(type, value)
          .map(sql -> isDeclaredAs(field, sql)
              ? Objects.requireNonNull(field.rules().defaultSql())
              : "CAST(" + sql + " AS " + sqlType(field) + ")");
    }
    int width = type.widthBytes().orElseThrow();
    List<String> elements = new ArrayList<>();
    for (int at = 0; at < value.length; at += width) {
      Optional<String> element = element(type, Arrays.copyOfRange(value, at, at + width));
      if (element.isEmpty()) {
        return Optional.empty();
      }
      elements.add(element.get());
    }
    return Optional.of("array(" + String.join(", ", elements) + ")");
  }

  /** Tells whether the text of a default is a literal of the value, and so as good as a cast. */
  private static boolean isDeclaredAs(FieldSpec field, String sql) {
    String text = field.rules().defaultSql();
    return switch (field.type().kind()) {
      case UTF8 -> sql.equals(text) && sql.indexOf('\\') < 0;
      case BOOL, I8, I16, I32, I64, F32, F64 -> unquoted(sql).equals(text);
      default -> false;
    };
  }

  /** Returns a literal, which is never null: a cast of a text may be, and no tensor has nulls. */
  private static Optional<String> element(ElementType type, byte[] value) {
    Optional<String> text = single(type, value);
    return switch (type.kind()) {
      case I8 -> text.map(quoted -> unquoted(quoted) + "Y");
      case I16 -> text.map(quoted -> unquoted(quoted) + "S");
      case I32 -> text.map(DefaultSql::unquoted);
      case I64 -> text.map(quoted -> unquoted(quoted) + "L");
      case F32 -> text.map(quoted -> number(quoted, "F", "FLOAT"));
      case F64 -> text.map(quoted -> number(quoted, "D", "DOUBLE"));
      case DATE -> text.map(quoted -> "DATE" + quoted);
      case TIMESTAMP -> text.map(quoted -> "TIMESTAMP_LTZ" + quoted);
      case TIMESTAMP_NTZ -> text.map(quoted -> "TIMESTAMP_NTZ" + quoted);
      default -> text;
    };
  }

  private static String unquoted(String quoted) {
    return quoted.substring(1, quoted.length() - 1);
  }

  /** There are no literals for infinities and NaN. */
  private static String number(String quoted, String suffix, String type) {
    String number = unquoted(quoted);
    return number.matches("-?[0-9].*") ? number + suffix : "CAST(" + quoted + " AS " + type + ")";
  }

  private static String sqlType(FieldSpec field) {
    DataType type = SparkTypes.columnType(field);
    return type.sql();
  }

  private static Optional<String> single(ElementType type, byte[] value) {
    ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    return switch (type.kind()) {
      case BOOL -> Optional.of(bytes.get(0) == 0 ? "false" : "true");
      case I8 -> Optional.of(quoted(bytes.get(0)));
      case I16 -> Optional.of(quoted(bytes.getShort(0)));
      case I32 -> Optional.of(quoted(bytes.getInt(0)));
      case I64 -> Optional.of(quoted(bytes.getLong(0)));
      case F32 -> Optional.of(quoted(bytes.getFloat(0)));
      case F64 -> Optional.of(quoted(bytes.getDouble(0)));
      case DECIMAL -> Optional.of(quoted(decimal(value, type.scale())));
      case DATE -> Optional.of(quoted(LocalDate.ofEpochDay(bytes.getInt(0))));
      case TIMESTAMP -> Optional.of(quoted(time(bytes.getLong(0)) + "Z"));
      case TIMESTAMP_NTZ -> Optional.of(quoted(time(bytes.getLong(0))));
      case BYTES, U8, UTF8 -> Optional.of("X'" + HexFormat.of().formatHex(value) + "'");
      case U16, U32, U64, F16, BF16, NESTED -> Optional.empty();
    };
  }

  private static String quoted(Object value) {
    return "'" + value + "'";
  }

  private static String decimal(byte[] littleEndian, int scale) {
    byte[] bigEndian = new byte[littleEndian.length];
    for (int i = 0; i < bigEndian.length; i++) {
      bigEndian[i] = littleEndian[bigEndian.length - 1 - i];
    }
    return new BigDecimal(new BigInteger(bigEndian), scale).toPlainString();
  }

  /** Returns a time with its seconds, without which Spark reads no time zone. */
  private static String time(long micros) {
    return DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(LocalDateTime.ofEpochSecond(
        Math.floorDiv(micros, MICROS), (int) Math.floorMod(micros, MICROS) * 1000, ZoneOffset.UTC));
  }
}
