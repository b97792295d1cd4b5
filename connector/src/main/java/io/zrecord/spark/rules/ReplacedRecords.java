package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.rows.RowOperation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.ProjectingInternalRow;
import org.apache.spark.sql.catalyst.analysis.RewriteDeleteFromTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Strategy$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;

/**
 * Lets an overwrite replace the records for which any condition is true. Spark hands the condition
 * to the table, which decides it without reading only if partitions do. For all others this rule
 * makes a change of records: those to be deleted are found as for a {@code DELETE}, the rows of the
 * query are new, and both are one commit. Sees conditions whose constants are computed. Stateless.
 */
public final class ReplacedRecords extends Rule<LogicalPlan> {
  private static final int INSERT = 3;

  /** Positions among the arguments of a change of records. */
  private static final int QUERY = 2;

  private static final int PROJECTIONS = 4;

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return WritesOfTables.changed(
        plan,
        (write, table) -> write instanceof OverwriteByExpression overwrite
                && overwrite.resolved()
                && overwrite.write().isEmpty()
                && table.hasRecordsToReplace()
                && !isDecided(overwrite.deleteExpr(), table)
            ? changed(overwrite)
            : (LogicalPlan) write);
  }

  /** Tells whether a condition is of all records or of none, or partitions decide it. */
  private static boolean isDecided(Expression condition, ZRecordTable table) {
    if (condition instanceof Literal) {
      return true;
    }
    Option<Predicate> translated = DataSourceV2Strategy$.MODULE$.translateFilterV2(condition);
    return translated.isDefined() && table.isDecidedByPartitions(translated.get());
  }

  private static LogicalPlan changed(OverwriteByExpression overwrite) {
    DataSourceV2Relation table = (DataSourceV2Relation) overwrite.table();
    WriteDelta deletion = RowChangesAnalyzed.withoutFilter((WriteDelta)
        RewriteDeleteFromTable.apply(new DeleteFromTable(table, overwrite.deleteExpr())));
    RowOperation operation = ColumnsOfRowChanges.operation(deletion.table()).orElseThrow();
    Map<String, String> options = new HashMap<>();
    overwrite.writeOptions().foreach(option -> options.put(option._1(), option._2()));
    List<Attribute> places = PlanNodes.output(deletion.query());
    List<Attribute> values = PlanNodes.output(overwrite.query());
    List<StructField> columns = columns(PlanNodes.output(table), values);
    operation.replaces(columns.stream().map(StructField::name).toList(), options);
    LogicalPlan rows = union(
        project(deletion.query(), deleted(places, columns)),
        project(overwrite.query(), inserted(places, columns, values)));
    Object projections = withRows(
        (Product) deletion.productElement(PROJECTIONS),
        new StructType(columns.toArray(StructField[]::new)),
        places.size());
    return PlanNodes.copy((LogicalPlan) deletion, Map.of(QUERY, rows, PROJECTIONS, projections));
  }

  /** Returns the columns of new rows, which have no NULL where the query has none. */
  private static List<StructField> columns(List<Attribute> table, List<Attribute> values) {
    return IntStream.range(0, table.size())
        .mapToObj(i -> new StructField(
            table.get(i).name(),
            values.get(i).dataType(),
            values.get(i).nullable(),
            table.get(i).metadata()))
        .toList();
  }

  /** Returns what a deleted record is in a row: its place, and no value. */
  private static List<NamedExpression> deleted(List<Attribute> places, List<StructField> columns) {
    List<NamedExpression> row = new ArrayList<>();
    places.forEach(place -> row.add(Fillers.named(place, place.name())));
    columns.forEach(
        column -> row.add(Fillers.named(Literal.create(null, column.dataType()), column.name())));
    return row;
  }

  /** Returns what a new record is in a row: its values, and no place. */
  private static List<NamedExpression> inserted(
      List<Attribute> places, List<StructField> columns, List<Attribute> values) {
    List<NamedExpression> row = new ArrayList<>();
    for (Attribute place : places) {
      Object value = row.isEmpty() ? INSERT : null; // The first says what to do.
      row.add(Fillers.named(Literal.create(value, place.dataType()), place.name()));
    }
    for (int i = 0; i < values.size(); i++) {
      row.add(Fillers.named(values.get(i), columns.get(i).name()));
    }
    return row;
  }

  private static LogicalPlan project(LogicalPlan rows, List<NamedExpression> columns) {
    return PlanNodes.made(Project.class, ScalaLists.of(columns), rows);
  }

  private static LogicalPlan union(LogicalPlan first, LogicalPlan second) {
    return PlanNodes.made(Union.class, ScalaLists.of(List.of(first, second)), false, false);
  }

  /**
   * Returns where a writer finds the parts of a row.
   *
   * @param places where the parts of a deleted record are, which stay
   * @param first the first column of values
   */
  private static Object withRows(Product places, StructType columns, int first) {
    Object ordinals = ScalaLists.vector(
        IntStream.range(first, first + columns.length()).boxed().toList());
    return PlanNodes.made(
        places.getClass(),
        Option.apply(PlanNodes.made(ProjectingInternalRow.class, columns, ordinals)),
        places.productElement(1),
        places.productElement(2));
  }
}
