package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.write.RequiredValue;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.types.StructType;
import scala.runtime.BoxedUnit;

/**
 * Refuses a write that leaves out a column that only a declaration has as NOT NULL, before its
 * tasks start. Spark takes such a column for one that may be NULL, because records may have NULL
 * from before, and gives it NULL. The tasks refuse all other NULLs. Stateless.
 */
public final class RequiredColumns {
  private RequiredColumns() {}

  /**
   * Checks an analyzed plan.
   *
   * @throws IllegalArgumentException if a write in the plan has only NULL for such a column
   */
  public static BoxedUnit check(LogicalPlan plan) {
    SparkErrors.done(() -> WritesOfTables.changed(plan, RequiredColumns::checked));
    return BoxedUnit.UNIT;
  }

  private static LogicalPlan checked(V2WriteCommand write, ZRecordTable table) {
    StructType columns = ((LogicalPlan) write.table()).schema();
    StructType required = table.required(columns);
    List<Attribute> given = PlanNodes.output(write.query());
    for (int i = 0; i < Math.min(columns.length(), given.size()); i++) {
      boolean isDeclared = columns.apply(i).nullable() && !required.apply(i).nullable();
      if (isDeclared && isNull(given.get(i), write.query())) {
        throw RequiredValue.missing(table.name(), columns.apply(i).name());
      }
    }
    return (LogicalPlan) write;
  }

  /** Tells whether an expression over the rows of a plan is NULL, whatever the rows have. */
  private static boolean isNull(Expression expression, LogicalPlan rows) {
    if (expression instanceof Literal literal) {
      return literal.value() == null;
    }
    if (expression instanceof Cast cast) {
      return isNull(cast.child(), rows);
    }
    if (expression instanceof Alias alias) {
      return isNull(alias.child(), rows);
    }
    if (expression instanceof AttributeReference column) {
      if (rows instanceof SubqueryAlias alias) {
        return isNull(column, alias.child());
      }
      return rows instanceof Project project
          && source(project, column)
              .filter(found -> isNull(found, project.child()))
              .isPresent();
    }
    return false;
  }

  /** Returns the expression of a projection that makes a column; empty if none does. */
  private static Optional<Expression> source(Project project, AttributeReference column) {
    return ScalaLists.copy(PlanNodes.called(project, "projectList"), NamedExpression.class).stream()
        .filter(made -> made.exprId().equals(column.exprId()))
        .map(Expression.class::cast)
        .findFirst();
  }
}
