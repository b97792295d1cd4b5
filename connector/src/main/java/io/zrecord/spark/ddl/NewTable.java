package io.zrecord.spark.ddl;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.DeclaredColumns;
import io.zrecord.spark.path.Unsupported;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * What a statement says of a table that it creates or replaces.
 *
 * @param columns the columns; those that the table numbers are never null
 * @param partitions how to partition the table
 * @param properties properties, options and the place
 * @param identities columns that the table numbers
 * @param constraints make the constraints, once the fields have numbers
 */
public record NewTable(
    StructType columns,
    List<Transform> partitions,
    Map<String, String> properties,
    List<NumberedColumn> identities,
    List<Function<FieldNames, Constraint>> constraints) {

  /** Returns what a statement says of which the columns have a type and metadata only. */
  public static NewTable of(
      StructType columns, Transform[] partitions, Map<String, String> properties) {
    return new NewTable(columns, List.of(partitions), properties, List.of(), List.of());
  }

  /**
   * Returns what a statement says of columns that may be numbered, which Spark 4.0 and later know.
   *
   * @throws UnsupportedOperationException if a column is computed from others
   */
  public static NewTable of(
      Column[] columns, Transform[] partitions, Map<String, String> properties) {
    return of(columns, partitions, properties, List.of());
  }

  /**
   * Returns what Spark 4.1 and later say.
   *
   * @throws UnsupportedOperationException if a column is computed from others
   */
  public static NewTable of(TableInfo table) {
    return of(
        table.columns(),
        table.partitions(),
        table.properties(),
        Arrays.stream(table.constraints())
            .<Function<FieldNames, Constraint>>map(
                constraint -> names -> SparkConstraints.of(constraint, names))
            .toList());
  }

  /**
   * Returns what {@code CREATE TABLE LIKE} says of a table like another one of zrecord: what Spark
   * has copied of the columns, with the defaults, comment, properties and identities of the other
   * table. Identities start again at their first number. The statement's own clauses override what
   * the other table has.
   *
   * @throws UnsupportedOperationException if the other table has fields of a later release
   */
  public NewTable like(RecordSchema fields, Declarations declared) {
    if (!fields.unreadable().isEmpty()) {
      throw Unsupported.operation(
          "creating a table like one with fields that this release cannot read",
          "use a later release of zrecord");
    }
    Map<String, String> all = new HashMap<>(declared.properties());
    all.keySet().removeIf(ReservedProperties::speaksAsSpark);
    if (!declared.comment().isEmpty()) {
      all.put(TableCatalog.PROP_COMMENT, declared.comment());
    }
    all.putAll(properties);
    List<NumberedColumn> identities = NumberedColumn.of(fields, declared.identities());
    return new NewTable(
        withoutNull(DeclaredColumns.withDefaults(columns, fields), identities),
        partitions,
        all,
        identities,
        constraints);
  }

  private static NewTable of(
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties,
      List<Function<FieldNames, Constraint>> constraints) {
    List<NumberedColumn> identities = NumberedColumn.among(columns);
    StructType struct = withoutNull(CatalogV2Util.v2ColumnsToStructType(columns), identities);
    return new NewTable(struct, List.of(partitions), properties, identities, constraints);
  }

  private static StructType withoutNull(StructType columns, List<NumberedColumn> identities) {
    StructField[] fields = columns.fields().clone();
    for (NumberedColumn identity : identities) {
      StructField field = fields[identity.ordinal()];
      fields[identity.ordinal()] =
          new StructField(field.name(), field.dataType(), false, field.metadata());
    }
    return new StructType(fields);
  }
}
