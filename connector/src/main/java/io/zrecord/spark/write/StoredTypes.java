package io.zrecord.spark.write;

import io.zrecord.spark.column.SparkTypes;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.sql.types.VarcharType;

/** Says how a column of a type that zrecord does not store becomes one that it does. Stateless. */
final class StoredTypes {
  private StoredTypes() {}

  /** Returns an expression of SQL, or what else to do. */
  static String remedy(StructField column) {
    DataType type = column.dataType();
    String name = "`" + column.name().replace("`", "``") + "`";
    if (type instanceof UserDefinedType<?>) {
      return "convert it, for example a vector with vector_to_array of org.apache.spark.ml.functions";
    }
    if (type.typeName().equals("variant")) {
      return "convert it, for example with to_json(" + name + ")";
    }
    return "convert it, for example with cast(" + name + " as " + stored(type).sql() + ")";
  }

  /** Returns how to declare a column that has no values to convert. */
  static String declaration(StructField column) {
    return "declare " + stored(column.dataType()).catalogString();
  }

  /** Returns the type with a string in place of each part that is not stored. */
  private static DataType stored(DataType type) {
    if (type instanceof ArrayType array) {
      return DataTypes.createArrayType(stored(array.elementType()));
    }
    if (type instanceof MapType map) {
      return DataTypes.createMapType(stored(map.keyType()), stored(map.valueType()));
    }
    if (type instanceof StructType struct) {
      return DataTypes.createStructType(Arrays.stream(struct.fields())
          .map(field -> DataTypes.createStructField(field.name(), stored(field.dataType()), true))
          .toArray(StructField[]::new));
    }
    if (type instanceof CharType || type instanceof VarcharType) {
      return DataTypes.StringType; // A part of a column has no length.
    }
    StructField alone = DataTypes.createStructField("x", type, true);
    return SparkTypes.elementTypeOf(alone, Optional.empty()).isPresent()
        ? type
        : DataTypes.StringType;
  }
}
