package io.zrecord.spark.column;

import io.zrecord.schema.FieldSpec;
import java.util.Arrays;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.types.MetadataBuilder;

/**
 * Says the numbers of fields to Spark, which from 4.2 on compares them before each query. So a data
 * frame does not show another field that got the name of its column. Older releases would show the
 * key among the metadata of a column, and take it for what an application says. Stateless.
 */
final class FieldIds {
  /** Column metadata of Spark: what no other column of the table has, now or later. */
  static final String KEY = "__FIELD_ID";

  private static final boolean ARE_COMPARED = Arrays.stream(Column.class.getMethods())
      .anyMatch(method -> method.getName().equals("id"));

  private FieldIds() {}

  /** Adds the number of a field to the metadata of its column, if this Spark compares numbers. */
  static void put(FieldSpec field, MetadataBuilder metadata) {
    if (ARE_COMPARED) {
      metadata.putString(KEY, String.valueOf(field.id()));
    }
  }
}
