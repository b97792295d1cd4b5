package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Collects the versions of datasets that a plan reads, including its subqueries. Belongs to one
 * thread.
 */
final class TablesRead {
  private final List<TableSnapshot> versions = new ArrayList<>();

  private TablesRead() {}

  static List<TableSnapshot> of(LogicalPlan plan) {
    TablesRead read = new TablesRead();
    read.walk(plan);
    return read.versions;
  }

  private void walk(LogicalPlan plan) {
    SubqueryVisitor subqueries = new SubqueryVisitor();
    plan.foreach(node -> {
      if (node instanceof DataSourceV2Relation relation) {
        add(relation);
      } else if (node instanceof DataSourceV2ScanRelation scan) {
        add(scan.relation());
      }
      node.transformExpressions(subqueries);
      return BoxedUnit.UNIT;
    });
  }

  private void add(DataSourceV2Relation relation) {
    if (relation.table() instanceof ZRecordTable table) {
      versions.addAll(table.snapshots(relation.options()));
    }
  }

  /**
   * Walks the plans in expressions. The function is defined nowhere, so it changes nothing.
   * Collecting a node's expressions instead would give lists of types that differ between releases.
   */
  private final class SubqueryVisitor implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      if (expression instanceof PlanExpression<?> subquery
          && subquery.plan() instanceof LogicalPlan plan) {
        walk(plan);
      }
      return false;
    }

    @Override
    public Expression apply(Expression expression) {
      return expression;
    }
  }
}
