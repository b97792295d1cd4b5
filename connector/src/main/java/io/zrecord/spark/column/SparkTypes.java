package io.zrecord.spark.column;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Maps Spark's types to zrecord's, and back.
 *
 * <p>A tensor is an array of its elements in row-major order; its shape is in the column's metadata
 * under {@value #SHAPE_KEY}. Tensors of {@code u8}, such as images, are binary columns. Unsigned
 * integers and small floats, which Spark does not have, are read as the next wider type; the dtype
 * is in the metadata under {@value #DTYPE_KEY}. A struct, a map, and an array of anything but
 * single elements of fixed width, is one nested value.
 */
public final class SparkTypes {
  /** Column metadata: dtype of the field. */
  static final String DTYPE_KEY = "zrecord.dtype";

  /** Column metadata: shape of the field's values, as an array of integers. */
  static final String SHAPE_KEY = "zrecord.shape";

  /** Column metadata of Spark: the default, in SQL. */
  static final String DEFAULT_KEY = "CURRENT_DEFAULT";

  private SparkTypes() {}

  /**
   * Returns the columns of a schema with what it declares: which are never null, and defaults.
   *
   * @throws IllegalArgumentException if a field has the name of a metadata column, which the field
   *     would hide
   */
  public static StructType structOf(RecordSchema schema) {
    for (FieldSpec field : schema.fields()) {
      if (MetadataColumns.areHiddenBy(field.name())) {
        throw new IllegalArgumentException("The dataset has a field '" + field.name()
            + "', which is the name of a metadata column in Spark; rename the field by"
            + " bin/zrecord fields rename PATH " + field.name()
            + " NAME, or read the dataset without Spark");
      }
    }
    return new StructType(
        schema.fields().stream().map(SparkTypes::columnOf).toArray(StructField[]::new));
  }

  /** Returns the column that a field becomes. */
  public static StructField columnOf(FieldSpec field) {
    MetadataBuilder metadata = new MetadataBuilder()
        .withMetadata(ColumnMetadata.of(field))
        .putString(DTYPE_KEY, field.type().toString());
    if (!field.shape().isScalar()) {
      metadata.putLongArray(
          SHAPE_KEY,
          field.shape().dimensions().stream().mapToLong(Integer::longValue).toArray());
    }
    FieldIds.put(field, metadata);
    StringLengths.put(field, metadata);
    DefaultSql.of(field).ifPresent(sql -> metadata.putString(DEFAULT_KEY, sql));
    StructField column = new StructField(
        field.name(), columnType(field), field.rules().isNullable(), metadata.build());
    String comment = field.rules().comment();
    return comment.isEmpty() ? column : column.withComment(comment);
  }

  /** Returns the type of a field's column. */
  public static DataType columnType(FieldSpec field) {
    return columnType(field.type(), field.shape());
  }

  private static DataType columnType(ElementType type, Shape shape) {
    if (shape.isScalar()) {
      return elementColumnType(type);
    }
    return type.kind() == ElementType.Kind.U8
        ? DataTypes.BinaryType
        : DataTypes.createArrayType(elementColumnType(type), false);
  }

  /** Returns Spark's type for a single element. */
  static DataType elementColumnType(ElementType type) {
    return switch (type.kind()) {
      case BOOL -> DataTypes.BooleanType;
      case I8 -> DataTypes.ByteType;
      case I16, U8 -> DataTypes.ShortType;
      case I32, U16 -> DataTypes.IntegerType;
      case I64, U32 -> DataTypes.LongType;
      case U64 -> DataTypes.createDecimalType(20, 0);
      case F16, BF16, F32 -> DataTypes.FloatType;
      case F64 -> DataTypes.DoubleType;
      case DATE -> DataTypes.DateType;
      case TIMESTAMP -> DataTypes.TimestampType;
      case TIMESTAMP_NTZ -> DataTypes.TimestampNTZType;
      case DECIMAL -> DataTypes.createDecimalType(type.precision(), type.scale());
      case BYTES -> DataTypes.BinaryType;
      case UTF8 -> DataTypes.StringType;
      case NESTED -> nestedColumnType(type.requireTree());
    };
  }

  /** Returns Spark's type for nested values, in which everything but keys may be null. */
  static DataType nestedColumnType(NestedType type) {
    if (type instanceof NestedType.ListOf list) {
      return DataTypes.createArrayType(nestedColumnType(list.element()), true);
    }
    if (type instanceof NestedType.MapOf map) {
      return DataTypes.createMapType(
          nestedColumnType(map.key()), nestedColumnType(map.value()), true);
    }
    if (type instanceof NestedType.StructOf struct) {
      return new StructType(struct.members().stream()
          .map(member -> new StructField(
              member.name(), nestedColumnType(member.type()), true, Metadata.empty()))
          .toArray(StructField[]::new));
    }
    NestedType.Leaf leaf = (NestedType.Leaf) type;
    return columnType(leaf.element(), leaf.shape());
  }

  /**
   * Returns the dtype as which a column is written; empty if the column cannot be written. An array
   * of single elements of fixed width is a tensor. Other arrays, maps and structs are nested.
   *
   * @param shape the shape that an option asks for, if any
   * @throws IllegalArgumentException if the column is nested beyond the limits
   */
  public static Optional<ElementType> elementTypeOf(StructField column, Optional<Shape> shape) {
    DataType type = column.dataType();
    if (isNested(type)) {
      try {
        return nestedTypeOf(type).map(ElementType::nested);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "column '" + column.name() + "' has the type " + type.catalogString()
                + ", which zrecord does not store: " + e.getMessage(),
            e);
      }
    }
    if (type instanceof ArrayType array) {
      return fixedWidthTypeOf(array.elementType());
    }
    if (type.equals(DataTypes.BinaryType)) {
      boolean isTensor = shape.isPresent() || isTensorOfBytes(column.metadata());
      return Optional.of(isTensor ? ElementType.U8 : ElementType.BYTES);
    }
    return isString(type) ? Optional.of(ElementType.UTF8) : fixedWidthTypeOf(type);
  }

  /** Tells whether values are stored as nested ones, if at all. */
  private static boolean isNested(DataType type) {
    if (type instanceof ArrayType array) {
      return array.elementType() instanceof DecimalType
          || fixedWidthTypeOf(array.elementType()).isEmpty();
    }
    return type instanceof MapType || type instanceof StructType;
  }

  /** Returns the type of nested values; empty if a type in it cannot be written. */
  public static Optional<NestedType> nestedTypeOf(DataType type) {
    if (type instanceof ArrayType array) {
      return nestedTypeOf(array.elementType()).map(NestedType::listOf);
    }
    if (type instanceof MapType map) {
      return nestedTypeOf(map.keyType())
          .flatMap(key -> nestedTypeOf(map.valueType()).map(value -> NestedType.mapOf(key, value)));
    }
    if (type instanceof StructType struct) {
      List<NestedType.Member> members = new ArrayList<>();
      for (StructField field : struct.fields()) {
        Optional<NestedType> member = nestedTypeOf(field.dataType());
        if (member.isEmpty()) {
          return Optional.empty();
        }
        members.add(new NestedType.Member(field.name(), member.get()));
      }
      return Optional.of(new NestedType.StructOf(members));
    }
    Optional<ElementType> element = type.equals(DataTypes.BinaryType)
        ? Optional.of(ElementType.BYTES)
        : type.equals(DataTypes.StringType)
            ? Optional.of(ElementType.UTF8)
            : fixedWidthTypeOf(type);
    return element.map(NestedType::of);
  }

  /** Tells whether a type is CHAR or VARCHAR, which some releases have as kinds of strings. */
  public static boolean isLimitedString(DataType type) {
    return plainName(type).matches("(var)?char\\([0-9]+\\)");
  }

  /**
   * Returns the name of a type without the collation that compares bytes, which SHOW CREATE TABLE
   * of Spark 4.2 writes out. Strings without a collation have the same values and order.
   */
  public static String plainName(DataType type) {
    return type.catalogString().replace(" collate UTF8_BINARY", "");
  }

  /**
   * Tells whether a type is a string without a collation. Strings with a collation are another
   * type: stored values would compare differently.
   */
  static boolean isString(DataType type) {
    return plainName(type).equals("string") || isLimitedString(type);
  }

  /** Returns the shape with which a column is written when no option gives another shape. */
  public static Shape shapeOf(StructField column) {
    boolean isArray = column.dataType() instanceof ArrayType && !isNested(column.dataType());
    Metadata metadata = column.metadata();
    if (isArray || (column.dataType().equals(DataTypes.BinaryType) && isTensorOfBytes(metadata))) {
      if (!metadata.contains(SHAPE_KEY)) {
        return Shape.of(-1);
      }
      long[] dimensions = metadata.getLongArray(SHAPE_KEY);
      return Shape.of(
          java.util.Arrays.stream(dimensions).mapToInt(Math::toIntExact).toArray());
    }
    return Shape.scalar();
  }

  private static boolean isTensorOfBytes(Metadata metadata) {
    return metadata.contains(SHAPE_KEY)
        && metadata.contains(DTYPE_KEY)
        && metadata.getString(DTYPE_KEY).equals(ElementType.U8.toString());
  }

  /** Returns the dtype of a single value of fixed width; empty if the type has another width. */
  public static Optional<ElementType> fixedWidthTypeOf(DataType type) {
    if (type instanceof DecimalType decimal) {
      boolean fits = decimal.scale() >= 0 && decimal.scale() <= decimal.precision();
      return fits
          ? Optional.of(ElementType.decimal(decimal.precision(), decimal.scale()))
          : Optional.empty();
    }
    // These names are the same in every release; the types of intervals and variants are not.
    return Optional.ofNullable(
        switch (type.typeName()) {
          case "boolean" -> ElementType.BOOL;
          case "byte" -> ElementType.I8;
          case "short" -> ElementType.I16;
          case "integer" -> ElementType.I32;
          case "long" -> ElementType.I64;
          case "float" -> ElementType.F32;
          case "double" -> ElementType.F64;
          case "date" -> ElementType.DATE;
          case "timestamp" -> ElementType.TIMESTAMP;
          case "timestamp_ntz" -> ElementType.TIMESTAMP_NTZ;
          default -> null;
        });
  }
}
