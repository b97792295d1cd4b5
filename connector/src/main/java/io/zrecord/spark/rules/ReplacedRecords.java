package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.rows.RowOperation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.ProjectingInternalRow;
import org.apache.spark.sql.catalyst.analysis.RewriteDeleteFromTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BitwiseNot;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MonotonicallyIncreasingID;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.ShiftRight;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Strategy$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;
import scala.runtime.BoxedUnit;

/**
 * Lets an overwrite replace the records for which any condition is true. Spark hands the condition
 * to the table, which decides it without reading only if partitions do. For all others this rule
 * makes a change of records: those to be deleted are found as for a {@code DELETE}, the rows of the
 * query are new, and both are one commit. Sees conditions whose constants are computed. Stateless.
 */
public final class ReplacedRecords extends Rule<LogicalPlan> {
  private static final int INSERT = 3;
  private static final DataType INT = DataTypes.IntegerType;

  /** Bits for the row in Spark's ids, above which they have the partition of the query. */
  private static final int ROW_BITS = 33;

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
            ? changed(overwrite, table, write == plan)
            : (LogicalPlan) write);
  }

  /**
   * Refuses such an overwrite beside other writes of an analyzed statement, whose parts some
   * releases optimize and run one by one.
   *
   * @throws UnsupportedOperationException if there is one
   */
  public static BoxedUnit checkSeveral(LogicalPlan plan) {
    if (!(plan instanceof V2WriteCommand)) {
      WritesOfTables.changed(plan, (write, table) -> {
        if (write instanceof OverwriteByExpression overwrite
            && table.hasRecordsToReplace()
            && !isDecided(overwrite.deleteExpr(), table)) {
          SparkErrors.done(() -> requireAlone(overwrite, table, false));
        }
        return (LogicalPlan) write;
      });
    }
    return BoxedUnit.UNIT;
  }

  /** Tells whether a condition is of all records or of none, or partitions decide it. */
  static boolean isDecided(Expression condition, ZRecordTable table) {
    if (condition instanceof Literal literal) {
      return literal.value() != null;
    }
    try {
      Option<Predicate> translated = DataSourceV2Strategy$.MODULE$.translateFilterV2(condition);
      return translated.isDefined() && table.isDecidedByPartitions(translated.get());
    } catch (AssertionError e) {
      return false; // Spark translates no NULL that stands for a condition.
    }
  }

  private static void requireAlone(
      OverwriteByExpression overwrite, ZRecordTable table, boolean isAlone) {
    if (!isAlone) {
      throw Unsupported.operation(
          "replacing records of " + table.name() + " where "
              + overwrite.deleteExpr().sql() + " beside other writes of one statement",
          "use a statement for each");
    }
    if (ScanOrderKept.hasSubquery(overwrite.deleteExpr())) {
      throw Unsupported.operation(
          "replacing records of " + table.name() + " where a subquery says which",
          "delete them by a DELETE, and insert the others");
    }
  }

  private static LogicalPlan changed(
      OverwriteByExpression overwrite, ZRecordTable written, boolean isAlone) {
    SparkErrors.done(() -> requireAlone(overwrite, written, isAlone));
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
        project(
            overwrite.query(),
            inserted(places, columns, values, partitionValues(written, columns, values))));
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

  /**
   * Returns what a new record is in a row: its values, and instead of a place what brings the row
   * to a task and into an order. Rows of one partition of the table, or else of one task of the
   * query, come to one task, in the order of the query if there are no partitions.
   */
  private static List<NamedExpression> inserted(
      List<Attribute> places,
      List<StructField> columns,
      List<Attribute> values,
      List<Expression> partitionValues) {
    List<NamedExpression> row = new ArrayList<>();
    for (Attribute place : places) {
      Expression value = Literal.create(null, place.dataType());
      if (row.isEmpty()) {
        value = Literal.create(INSERT, place.dataType()); // The first says what to do.
      } else if (place.name().equals(MetadataColumns.SHARD)) {
        value = partitionValues.isEmpty()
            ? new BitwiseNot(
                new ShiftRight(new MonotonicallyIncreasingID(), Literal.create(ROW_BITS, INT)))
            : PlanNodes.made(XxHash64.class, ScalaLists.of(partitionValues), 0L);
      } else if (place.name().equals(MetadataColumns.INDEX) && partitionValues.isEmpty()) {
        value = new MonotonicallyIncreasingID();
      }
      row.add(Fillers.named(value, place.name()));
    }
    for (int i = 0; i < values.size(); i++) {
      row.add(Fillers.named(values.get(i), columns.get(i).name()));
    }
    return row;
  }

  private static List<Expression> partitionValues(
      ZRecordTable table, List<StructField> columns, List<Attribute> values) {
    List<String> names = table.partitionNames();
    return IntStream.range(0, columns.size())
        .filter(i -> names.contains(columns.get(i).name()))
        .<Expression>mapToObj(values::get)
        .toList();
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
