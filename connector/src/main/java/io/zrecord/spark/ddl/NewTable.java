package io.zrecord.spark.ddl;

import io.zrecord.schema.Constraint;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * What a statement says of a table that it creates or replaces.
 *
 * @param columns the columns
 * @param partitions how to partition the table
 * @param properties properties, options and the place
 * @param constraints make the constraints, once the fields have numbers
 */
public record NewTable(
    StructType columns,
    Transform[] partitions,
    Map<String, String> properties,
    List<Function<FieldNames, Constraint>> constraints) {

  /** Returns what Spark 3.5 says. */
  public static NewTable of(
      StructType columns, Transform[] partitions, Map<String, String> properties) {
    return new NewTable(columns, partitions, properties, List.of());
  }

  /** Returns what Spark 4.1 and later say. */
  public static NewTable of(TableInfo table) {
    return new NewTable(
        structOf(table.columns()),
        table.partitions(),
        table.properties(),
        Arrays.stream(table.constraints())
            .<Function<FieldNames, Constraint>>map(
                constraint -> names -> SparkConstraints.of(constraint, names))
            .toList());
  }

  private static StructType structOf(Column[] columns) {
    return CatalogV2Util.v2ColumnsToStructType(columns);
  }
}
