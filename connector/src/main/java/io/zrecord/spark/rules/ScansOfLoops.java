package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Tells a table that a recursive query reads the table. Spark plans the recursion once, runs it
 * level by level with the same scan, and gives the scan the keys of each level. It resolves such
 * conditions wrongly if the recursion is the left side of a join. So the scan must take none.
 * Changes no plan. Stateless.
 */
public final class ScansOfLoops extends Rule<LogicalPlan> {
  /** A class of Spark that is new in 4.1. */
  private static final String LOOP = "UnionLoop";

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    plan.foreach(node -> {
      if (node.getClass().getSimpleName().equals(LOOP)) {
        node.transformDownWithSubqueries(new Marking());
      }
      return BoxedUnit.UNIT;
    });
    return plan;
  }

  /** Looks at each part of a plan, and changes none. */
  private static final class Marking implements PartialFunction<LogicalPlan, LogicalPlan> {
    @Override
    public boolean isDefinedAt(LogicalPlan node) {
      if (node instanceof DataSourceV2Relation relation
          && relation.table() instanceof ZRecordTable table) {
        table.readInLoop();
      }
      return false;
    }

    @Override
    public LogicalPlan apply(LogicalPlan node) {
      return node;
    }
  }
}
