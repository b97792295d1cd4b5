package io.zrecord.spark.rules;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.runtime.BoxedUnit;

/** Looks whether rows come from one scan, in the order and the tasks of the scan. Stateless. */
final class ScanOrderKept {
  private ScanOrderKept() {}

  /** Tells whether a plan only filters and computes columns. A subquery may become a join. */
  static boolean by(LogicalPlan plan) {
    AtomicBoolean isKept = new AtomicBoolean(true);
    plan.foreach(ColumnsOfRowChanges.function(node -> {
      boolean isOne =
          node instanceof Project || node instanceof Filter || node instanceof DataSourceV2Relation;
      if (!isOne || hasSubquery((LogicalPlan) node)) {
        isKept.set(false);
      }
      return BoxedUnit.UNIT;
    }));
    return isKept.get();
  }

  private static boolean hasSubquery(LogicalPlan node) {
    return ScalaLists.copy(PlanNodes.called(node, "expressions"), Expression.class).stream()
        .anyMatch(ScanOrderKept::hasSubquery);
  }

  /** Tells whether a query is in an expression. */
  static boolean hasSubquery(Expression expression) {
    return expression.exists(ColumnsOfRowChanges.function(SubqueryExpression.class::isInstance));
  }
}
