package io.zrecord.spark.procedure;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;

/**
 * A parameter of a procedure.
 *
 * @param defaultSql SQL of the value that the parameter has if it is not given; null if it must be
 */
record Parameter(String name, DataType type, @Nullable String defaultSql, String comment) {
  static final Parameter TABLE =
      required("table", DataTypes.StringType, "name of the table in the catalog, or a path or URI");

  static Parameter required(String name, DataType type, String comment) {
    return new Parameter(name, type, null, comment);
  }

  /** Returns a parameter that may be null, which it is if it is not given. */
  static Parameter optional(String name, DataType type, String comment) {
    return new Parameter(name, type, "CAST(NULL AS " + type.sql() + ")", comment);
  }

  static Parameter flag(String name, boolean defaultValue, String comment) {
    return new Parameter(name, DataTypes.BooleanType, String.valueOf(defaultValue), comment);
  }

  static Parameter with(String name, DataType type, String defaultSql, String comment) {
    return new Parameter(name, type, defaultSql, comment);
  }
}
