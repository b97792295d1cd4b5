package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.options.ZRecordOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Refuses a statement that names a dataset twice, {@code WITH} different options. Spark resolves a
 * name once in a statement and gives the options of the first place to all other places, so a tag
 * would be ignored. Changes no plan. Thread-safe.
 */
public final class OptionsOfRelations extends Rule<LogicalPlan> {
  private final SparkSession session;

  /** Creates the rule of a session. */
  public OptionsOfRelations(SparkSession session) {
    this.session = session;
  }

  /**
   * The key by which Spark resolves a relation once. Versions that Spark itself knows have
   * relations of their own.
   */
  private record Resolved(String name, List<Optional<String>> version) {}

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    walk(plan, new HashMap<>());
    return plan;
  }

  private void walk(LogicalPlan plan, Map<Resolved, Map<String, String>> seen) {
    Subqueries subqueries = new Subqueries(seen);
    plan.foreach(node -> {
      if (node instanceof UnresolvedRelation relation) {
        compare(relation, seen);
      }
      node.transformExpressions(subqueries);
      return BoxedUnit.UNIT;
    });
  }

  private void compare(UnresolvedRelation relation, Map<Resolved, Map<String, String>> seen) {
    Map<String, String> options = new HashMap<>(relation.options());
    Resolved resolved = new Resolved(
        relation.tableName(),
        List.of(
            Optional.ofNullable(relation.options().get(ZRecordOptions.VERSION_AS_OF)),
            Optional.ofNullable(relation.options().get(ZRecordOptions.TIMESTAMP_AS_OF))));
    Map<String, String> first = seen.putIfAbsent(resolved, options);
    if (first != null && !first.equals(options) && isDataset(relation.tableName())) {
      throw new IllegalArgumentException(
          "Cannot read " + relation.tableName() + " with the options "
              + first + " and " + options
              + " in one statement: Spark would take the first for both; use VERSION AS OF for a version"
              + " or tag, or make a temporary view of spark.read().option(…).table(…)");
    }
  }

  private boolean isDataset(String name) {
    AtomicBoolean found = new AtomicBoolean();
    try {
      session.table(name).queryExecution().analyzed().foreach(node -> {
        if (node instanceof DataSourceV2Relation relation
            && relation.table() instanceof ZRecordTable) {
          found.set(true);
        }
        return BoxedUnit.UNIT;
      });
    } catch (Exception e) {
      // There is no table of this name, or it is a common table expression. Spark reports what is
      // wrong, if anything.
      return false;
    }
    return found.get();
  }

  /** Walks the plans in expressions. The function is defined nowhere, so it changes nothing. */
  private final class Subqueries implements PartialFunction<Expression, Expression> {
    private final Map<Resolved, Map<String, String>> seen;

    Subqueries(Map<Resolved, Map<String, String>> seen) {
      this.seen = seen;
    }

    @Override
    public boolean isDefinedAt(Expression expression) {
      if (expression instanceof PlanExpression<?> subquery
          && subquery.plan() instanceof LogicalPlan plan) {
        walk(plan, seen);
      }
      return false;
    }

    @Override
    public Expression apply(Expression expression) {
      return expression;
    }
  }
}
