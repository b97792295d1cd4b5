package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.scan.CountPushDown;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.DataTypes;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Rewrites counts of constants over datasets, before Spark offers them to the scan. Spark offers
 * every count of one constant as {@code count(*)}. That is wrong for {@code count(distinct 1)},
 * which is 1 if there is a record, and for {@code count(null)}, which is 0. Stateless.
 */
public final class CountsOfConstants extends Rule<LogicalPlan> {
  private static final Literal ONE = Literal.create(1L, DataTypes.LongType);
  private static final Literal ZERO = Literal.create(0L, DataTypes.LongType);

  private CountsOfConstants() {}

  /** Returns the rule of a session, whose scans may answer counts from then on. */
  public static CountsOfConstants of(SparkSession session) {
    CountPushDown.allow(session);
    return new CountsOfConstants();
  }

  /** Returns the rule of a session that was made without it. Tasks may answer counts then. */
  public static CountsOfConstants late(SparkSession session) {
    CountPushDown.allowByTasks(session);
    return new CountsOfConstants();
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.transformUp(new Aggregates());
  }

  private static boolean readsDatasets(LogicalPlan plan) {
    AtomicBoolean found = new AtomicBoolean();
    plan.foreach(node -> {
      if (node instanceof DataSourceV2Relation relation
          && relation.table() instanceof ZRecordTable) {
        found.set(true);
      }
      return BoxedUnit.UNIT;
    });
    return found.get();
  }

  private static final class Aggregates implements PartialFunction<LogicalPlan, LogicalPlan> {
    @Override
    public boolean isDefinedAt(LogicalPlan node) {
      return node instanceof Aggregate aggregate && readsDatasets(aggregate.child());
    }

    @Override
    public LogicalPlan apply(LogicalPlan node) {
      return node.transformExpressions(new Counts());
    }
  }

  private static final class Counts implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      return expression instanceof AggregateExpression aggregate
          && aggregate.aggregateFunction() instanceof Count count
          && onlyChild(count) instanceof Literal constant
          && (constant.value() == null || aggregate.isDistinct());
    }

    /** Keeps the FILTER of the count. */
    @Override
    public Expression apply(Expression expression) {
      AggregateExpression aggregate = (AggregateExpression) expression;
      return ((Literal) onlyChild((Count) aggregate.aggregateFunction())).value() == null
          ? ZERO
          : new If(new GreaterThan(withoutDistinct(aggregate), ZERO), ONE, ZERO);
    }

    /** Returns the counted expression, or the count itself if there are several. */
    private static Object onlyChild(Count count) {
      // Calling children() would name a type of lists that differs between releases.
      scala.collection.Iterator<?> children =
          ((scala.collection.Iterable<?>) count.productElement(0)).iterator();
      Object first = children.next();
      return children.hasNext() ? count : first;
    }

    private static Expression withoutDistinct(AggregateExpression aggregate) {
      Object[] members = new Object[aggregate.productArity()];
      for (int i = 0; i < members.length; i++) {
        Object member = aggregate.productElement(i);
        members[i] = member instanceof Boolean ? false : member;
      }
      return aggregate.makeCopy(members);
    }
  }
}
