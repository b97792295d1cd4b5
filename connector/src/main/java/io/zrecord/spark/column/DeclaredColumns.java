package io.zrecord.spark.column;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.path.Unsupported;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.ColumnDefaultValue;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/**
 * Says what the columns of a {@code CREATE TABLE} declare of their fields: which are never null,
 * and which have a default. Stateless.
 */
public final class DeclaredColumns {
  /** Metadata of Spark: the text of the default, and the value that it had at the declaration. */
  private static final String TEXT = "CURRENT_DEFAULT";

  private static final String VALUE = "EXISTS_DEFAULT";

  /** Types of which Spark writes each value as it is. */
  private static final Set<ElementType.Kind> KEPT = EnumSet.of(
      ElementType.Kind.BOOL,
      ElementType.Kind.I8,
      ElementType.Kind.I16,
      ElementType.Kind.I32,
      ElementType.Kind.I64,
      ElementType.Kind.F32,
      ElementType.Kind.F64,
      ElementType.Kind.DECIMAL,
      ElementType.Kind.DATE,
      ElementType.Kind.TIMESTAMP,
      ElementType.Kind.TIMESTAMP_NTZ,
      ElementType.Kind.BYTES,
      ElementType.Kind.UTF8);

  private DeclaredColumns() {}

  /**
   * Returns a field with what the column declares.
   *
   * @throws UnsupportedOperationException if the default is a constant of a type that is not kept,
   *     or the type says more than a field keeps
   */
  public static FieldSpec declared(FieldSpec field, StructField column) {
    boolean isLimited = SparkTypes.isLimitedString(column.dataType());
    if (!isLimited) {
      requireKept(column.name(), column.dataType());
    }
    FieldRules rules = field.rules();
    if (!column.nullable()) {
      rules = rules.withNullable(false);
    }
    FieldSpec declared = field.withRules(rules);
    if (isLimited) {
      declared = StringLengths.kept(declared, column.dataType());
    }
    // Spark evaluates the text, because a program may give the text without its value.
    return column.metadata().contains(TEXT)
        ? withDefault(declared, column, column.metadata().getString(TEXT))
        : declared;
  }

  /** Refuses what would be forgotten: lengths of strings, and rules, within columns. */
  private static void requireKept(String name, DataType type) {
    if (SparkTypes.isLimitedString(type)) {
      throw Unsupported.operation(
          "keeping the type " + type.catalogString() + " of column '" + name + "'",
          "declare string within arrays, maps and structs");
    }
    if (type instanceof ArrayType array) {
      requireKept(name + ".element", array.elementType());
    } else if (type instanceof MapType map) {
      requireKept(name + ".key", map.keyType());
      requireKept(name + ".value", map.valueType());
    } else if (type instanceof StructType struct) {
      for (StructField member : struct.fields()) {
        String path = name + "." + member.name();
        if (!member.nullable() || member.getComment().isDefined()) {
          throw Unsupported.operation(
              "keeping " + (member.nullable() ? "the comment" : "NOT NULL") + " of '" + path + "'",
              "declare this of whole columns only");
        }
        requireKept(path, member.dataType());
      }
    }
  }

  /**
   * Returns a field with another default for the records to come.
   *
   * <p>A constant is kept with its value, and an expression as its text alone: only who evaluates
   * it may leave the field out then. So is a constant of an array, a struct or a map.
   *
   * @param column the column of the field
   * @param text the default in SQL
   * @throws UnsupportedOperationException if that is a constant of another type that is not kept
   */
  public static FieldSpec withDefault(FieldSpec field, StructField column, String text) {
    Object value = value(column, text);
    FieldRules rules = field.rules().withoutWrite();
    boolean isOfElements =
        field.type().kind() == ElementType.Kind.NESTED || !field.shape().isScalar();
    if ((value != null && isOfElements)
        || !ConstantDefault.isOne(text, column.dataType(), value == null)) {
      return field.withRules(rules.withDefaultSql(text));
    }
    return field.withRules(
        value == null ? rules : rules.withWrite(bytes(field, column, value)).withDefaultSql(text));
  }

  /**
   * Returns the field of a column that is added, in which the records that are there have the value
   * that the default has now.
   *
   * @param column the column of the field
   * @throws UnsupportedOperationException if the type of that value is not kept
   */
  public static FieldSpec withInitial(FieldSpec field, StructField column) {
    FieldRules rules = field.rules();
    if (rules.hasDefaultExpression()) {
      Object value = value(column, rules.defaultSql());
      return value == null
          ? field
          : field.withRules(rules.withInitial(bytes(field, column, value)));
    }
    return rules.write().map(value -> field.withRules(rules.withInitial(value))).orElse(field);
  }

  /** Returns columns with the defaults that fields of the same names have. */
  public static StructType withDefaults(StructType columns, RecordSchema fields) {
    StructField[] all = columns.fields().clone();
    for (int i = 0; i < all.length; i++) {
      StructField column = all[i];
      Optional<String> text = fields.find(column.name()).flatMap(DefaultSql::of);
      if (text.isPresent()) {
        Metadata metadata = new MetadataBuilder()
            .withMetadata(column.metadata())
            .putString(TEXT, text.get())
            .putString(VALUE, text.get())
            .build();
        all[i] = new StructField(column.name(), column.dataType(), column.nullable(), metadata);
      }
    }
    return new StructType(all);
  }

  /** Returns the metadata of a column that is declared with a default, if there is one. */
  public static Metadata metadata(String column, @Nullable ColumnDefaultValue declared) {
    return declared == null ? Metadata.empty() : metadata(requireSql(column, declared.getSql()));
  }

  /**
   * Returns the text of a default. From Spark 4.1 on, a program may give an expression alone.
   *
   * @throws UnsupportedOperationException if there is no text
   */
  public static String requireSql(String column, @Nullable String sql) {
    if (sql == null) {
      throw Unsupported.operation(
          "a default of column '" + column + "' that is an expression without SQL",
          "give the default as a text of SQL");
    }
    return sql;
  }

  private static Metadata metadata(String text) {
    return new MetadataBuilder().putString(TEXT, text).putString(VALUE, text).build();
  }

  /**
   * Lets Spark evaluate a default, which it does for the columns of any table. Spark refuses what
   * differs between the records of a statement, such as {@code rand()}.
   */
  private static @Nullable Object value(StructField column, @Nullable String text) {
    StructField declared = new StructField(
        column.name(),
        column.dataType(),
        column.nullable(),
        metadata(Objects.requireNonNull(text)));
    Column[] columns = new Columns(new StructType(new StructField[] {declared})).columns();
    return columns[0].defaultValue().getValue().value();
  }

  private record Columns(StructType columnsOfTable) implements Table {
    @Override
    @SuppressWarnings("deprecation") // Every release makes columns of this.
    public StructType schema() {
      return columnsOfTable;
    }

    @Override
    public String name() {
      return "defaults";
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of();
    }
  }

  /** Tells whether a constant is kept; columns of the other types hold more than their fields. */
  private static boolean isKept(FieldSpec field) {
    return field.shape().isScalar() && KEPT.contains(field.type().kind());
  }

  /** Returns the bytes of a value of Spark. */
  private static byte[] bytes(FieldSpec field, StructField column, Object value) {
    ElementType type = field.type();
    if (!isKept(field)) {
      throw unsupported(column);
    }
    if (value instanceof UTF8String text) {
      return StringLengths.stored(field).apply(text).getBytes();
    }
    if (value instanceof byte[] binary) {
      return binary.clone();
    }
    int width = type.widthBytes().orElseThrow(() -> unsupported(column));
    byte[] bytes = new byte[width];
    ByteBuffer little = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (value instanceof Decimal decimal) {
      DecimalBytes.write(decimal, bytes);
    } else if (value instanceof Boolean flag) {
      little.put((byte) (flag ? 1 : 0));
    } else if (value instanceof Float number) {
      little.putFloat(number);
    } else if (value instanceof Double number) {
      little.putDouble(number);
    } else if (value instanceof Number number) {
      switch (width) {
        case Byte.BYTES -> little.put(number.byteValue());
        case Short.BYTES -> little.putShort(number.shortValue());
        case Integer.BYTES -> little.putInt(number.intValue());
        default -> little.putLong(number.longValue());
      }
    } else {
      throw unsupported(column);
    }
    return bytes;
  }

  private static UnsupportedOperationException unsupported(StructField column) {
    return Unsupported.operation(
        "a default of the type " + column.dataType().catalogString() + " of column '"
            + column.name() + "'",
        "leave DEFAULT out, and set it afterwards for the records to come: alter table … alter"
            + " column `" + column.name() + "` set default …");
  }
}
