package io.zrecord.spark.rules;

import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.rows.RowOperation;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function1;
import scala.runtime.BoxedUnit;

/**
 * Lets an {@code UPDATE} or a {@code MERGE} read and write only the columns that the statement
 * needs. Spark plans rows with all columns. This rule finds those that the rows only carry along,
 * tells the {@link RowOperation}, and puts a constant in their place, after which Spark prunes them
 * from the scan. A statement that may give records another partition reads all columns, and writes
 * those that it assigns of the records that stay.
 *
 * <p>If the plan is not as expected, the rule changes nothing, and the rows have all columns, with
 * the same result. So the rule can also be left out ({@code spark.sql.optimizer.excludedRules}).
 * Stateless.
 */
public final class ColumnsOfRowChanges extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(ColumnsOfRowChanges.class);

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (!(plan instanceof WriteDelta write)) {
      return plan;
    }
    Optional<RowOperation> operation = operation(write.table());
    try {
      return operation.map(known -> narrowed(write, known)).orElse(plan);
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("{} reads and writes all columns, because this Spark has other plans", write, e);
      operation.ifPresent(RowOperation::hasOtherPlan);
      return plan;
    }
  }

  /** Returns the statement that a relation is written or read by. */
  static Optional<RowOperation> operation(Object relation) {
    if (relation instanceof DataSourceV2Relation known) {
      Table table = known.table();
      if (table instanceof RowLevelOperationTable changed
          && changed.operation() instanceof RowOperation operation) {
        return Optional.of(operation);
      }
    }
    return Optional.empty();
  }

  private static LogicalPlan narrowed(WriteDelta write, RowOperation operation) {
    Map<String, AttributeReference> stored = columns(write.query(), operation);
    stored.keySet().removeAll(MetadataColumns.NAMES);
    if (stored.isEmpty()) {
      operation.findsNoRecord();
      return write; // Planned already, or there is no row.
    }
    Set<String> unchanged = new TreeSet<>();
    Optional<LogicalPlan> query = query(write.query(), stored, unchanged, operation);
    if (query.isEmpty()) {
      operation.hasOtherPlan();
      return write;
    }
    operation.addChecked(ChecksOfPlan.columns(write.query()));
    operation.inScanOrder(ScanOrderKept.by(write.query()));
    operation.addUnchanged(unchanged);
    operation.inserts(inserts(write.query()));
    // A record that gets another partition is written whole.
    return operation.mayMove() ? write : write.mapChildren(function(child -> query.get()));
  }

  /** Returns the columns as the statement's scan has them, by name; none if it is planned. */
  static Map<String, AttributeReference> columns(LogicalPlan query, RowOperation operation) {
    Map<String, AttributeReference> stored = new HashMap<>();
    query.foreach(function(node -> {
      if (operation(node).filter(found -> found == operation).isPresent()) {
        for (AttributeReference column : ScalaLists.copy(
            ((DataSourceV2Relation) node).productElement(1), AttributeReference.class)) {
          stored.put(column.name(), column);
        }
      }
      return BoxedUnit.UNIT;
    }));
    return stored;
  }

  private static Optional<LogicalPlan> query(
      LogicalPlan query,
      Map<String, AttributeReference> stored,
      Set<String> unchanged,
      RowOperation operation) {
    if (query instanceof Project project) {
      return Optional.of(ofUpdate(project, stored, unchanged));
    }
    if (query instanceof MergeRows rows) {
      ColumnsOfMerge merge = new ColumnsOfMerge(rows, stored);
      operation.addPartlyAssigned(merge.partlyAssigned());
      return Optional.of(merge.narrowed(Set.of(), unchanged));
    }
    if (query instanceof Filter checks && checks.child() instanceof MergeRows rows) {
      // Constraints are checked on the merged rows, so the columns that they name stay.
      ColumnsOfMerge merge = new ColumnsOfMerge(rows, stored);
      operation.addPartlyAssigned(merge.partlyAssigned());
      LogicalPlan narrowed = merge.narrowed(merge.namesIn(checks.condition()), unchanged);
      return Optional.of(checks.mapChildren(function(child -> narrowed)));
    }
    return Optional.empty();
  }

  private static boolean inserts(LogicalPlan query) {
    LogicalPlan rows = query instanceof Filter checks ? checks.child() : query;
    return rows instanceof MergeRows merge
        && !ScalaLists.copy(PlanNodes.called(merge, "notMatchedInstructions"), Expression.class)
            .isEmpty();
  }

  private static LogicalPlan ofUpdate(
      Project project, Map<String, AttributeReference> stored, Set<String> unchanged) {
    return project.mapExpressions(function(expression -> {
      NamedExpression column = (NamedExpression) expression;
      AttributeReference kept = stored.get(column.name());
      if (kept == null || !isTheSame((Expression) expression, kept)) {
        return expression;
      }
      unchanged.add(column.name());
      Optional<Expression> filler = Fillers.of(kept);
      if (filler.isEmpty()) {
        return expression; // The column is read, and nobody writes it.
      }
      return Fillers.named(filler.get(), column.name());
    }));
  }

  /** Tells whether an expression is a column as it is stored. */
  static boolean isTheSame(Expression expression, AttributeReference stored) {
    Expression column = expression instanceof Alias alias ? alias.child() : expression;
    return column instanceof AttributeReference attribute
        && attribute.exprId().equals(stored.exprId());
  }

  /** Wraps a function, with whatever types a caller in Scala gives it. */
  @SuppressWarnings("unchecked")
  static <A, B> Function1<A, B> function(Function<Object, Object> body) {
    return argument -> (B) body.apply(argument);
  }
}
