package io.zrecord.spark.write;

import io.zrecord.schema.FieldSpec;
import org.apache.spark.sql.types.StructField;

/** Refuses NULL for a column that is NOT NULL. Stateless. */
public final class RequiredValue {
  private RequiredValue() {}

  /**
   * Tells whether a column is NOT NULL, by the declaration or by the table itself.
   *
   * @param column the column, as the declaration marks it
   * @param field the field of the column
   */
  public static boolean isOf(StructField column, FieldSpec field) {
    return !column.nullable() || !field.rules().isNullable();
  }

  /**
   * Returns the error of a row that has NULL for a column.
   *
   * @param table its name or location
   */
  public static IllegalArgumentException missing(String table, String column) {
    return new IllegalArgumentException("Cannot write NULL to the column '" + column + "' of "
        + table + ", which is declared NOT NULL; give a value, or drop NOT NULL from the"
        + " declaration");
  }
}
