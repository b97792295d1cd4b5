package io.zrecord.spark.rules;

import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.types.DataType;
import scala.Option;

/** Constants that stand for values which nobody looks at. Stateless. */
final class Fillers {
  private Fillers() {}

  /**
   * Returns a constant of a column's type, which is not null if the column is never null; empty if
   * Spark has none.
   */
  static Optional<Expression> of(AttributeReference column) {
    if (column.nullable()) {
      return Optional.of(Literal.create(null, column.dataType()));
    }
    try {
      // The name of the method is a keyword of Java.
      return Optional.of((Expression)
          Literal.class.getMethod("default", DataType.class).invoke(null, column.dataType()));
    } catch (ReflectiveOperationException e) {
      return Optional.empty();
    }
  }

  /** Returns an expression as a column of a new identity. */
  static NamedExpression named(Expression expression, String name) {
    Object none = ScalaLists.of(List.of());
    return PlanNodes.made(
        Alias.class, expression, name, NamedExpression.newExprId(), none, Option.empty(), none);
  }
}
