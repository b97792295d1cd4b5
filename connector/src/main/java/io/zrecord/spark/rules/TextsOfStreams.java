package io.zrecord.spark.rules;

import io.zrecord.spark.column.SparkTypes;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.DataTypes;
import scala.PartialFunction;

/**
 * Lets the columns of a stream that are CHAR or VARCHAR be strings, as Spark itself does for the
 * relations of statements. Spark has no rows with such types. Stateless.
 */
public final class TextsOfStreams extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.isStreaming() && plan.exists(TextsOfStreams::hasLimitedText)
        ? Transforms.ofAnalyzed(() -> plan.transformAllExpressions(new Texts()))
        : plan;
  }

  private static boolean hasLimitedText(Object node) {
    return node.getClass().getSimpleName().equals("StreamingRelationV2")
        && PlanNodes.output((LogicalPlan) node).stream()
            .anyMatch(column -> SparkTypes.isLimitedString(column.dataType()));
  }

  /** Changes the type of columns. */
  private static final class Texts implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      return expression instanceof AttributeReference column
          && SparkTypes.isLimitedString(column.dataType());
    }

    @Override
    public Expression apply(Expression expression) {
      return ((AttributeReference) expression).withDataType(DataTypes.StringType);
    }
  }
}
