package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.PartialFunction;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * Lets Spark say which dataset, and what to do, where it refuses a NULL for a column that is NOT
 * NULL. Spark checks such columns in each row of a write, and its message has the name of the
 * column and advice about Scala's classes. Stateless.
 */
public final class RefusalsOfNull extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return WritesOfTables.changed(plan, (write, table) -> {
      Checks checks = new Checks(table);
      return ((LogicalPlan) write).mapChildren(query -> query.transformExpressions(checks));
    });
  }

  /** The checks of the columns of a table. */
  private record Checks(ZRecordTable table) implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      return expression instanceof AssertNotNull check && column(check).isPresent();
    }

    @Override
    public Expression apply(Expression expression) {
      AssertNotNull check = (AssertNotNull) expression;
      return check.makeCopy(new Object[] {
        check.child(), ScalaLists.of(List.of(refusal(column(check).get())))
      });
    }

    private String refusal(String column) {
      return "NULL for the column '" + column + "' of " + table.name()
          + ", which is declared NOT NULL; give a value, or drop NOT NULL from the declaration";
    }

    /** Returns the column that a check is for; empty if the check has another text already. */
    private Optional<String> column(AssertNotNull check) {
      Iterator<?> path = ((Iterable<?>) check.productElement(1)).iterator();
      String first = path.hasNext() ? String.valueOf(path.next()) : "";
      return path.hasNext()
          ? Optional.empty()
          : Arrays.stream(table.schema().fieldNames())
              .filter(first::equalsIgnoreCase)
              .findFirst();
    }
  }
}
