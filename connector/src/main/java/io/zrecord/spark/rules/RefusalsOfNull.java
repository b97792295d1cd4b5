package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.options.ZRecordOptions;
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
    LogicalPlan ofWrites = WritesOfTables.changed(plan, (write, table) -> {
      Checks checks = new Checks(table);
      return ((LogicalPlan) write).mapChildren(query -> query.transformExpressions(checks));
    });
    // The checks of an UPDATE or a MERGE may stand below what Spark does with their rows.
    return WritesOfTables.changedRows(
        ofWrites,
        (statement, table) ->
            Transforms.ofAnalyzed(() -> statement.transformAllExpressions(new Checks(table))));
  }

  /** The checks of the columns of a table. */
  private record Checks(ZRecordTable table) implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      return expression instanceof AssertNotNull check && refusal(check).isPresent();
    }

    @Override
    public Expression apply(Expression expression) {
      AssertNotNull check = (AssertNotNull) expression;
      return check.makeCopy(
          new Object[] {check.child(), ScalaLists.of(List.of(refusal(check).orElseThrow()))});
    }

    /** Returns the text of a check of a column, or of elements; empty if the check is another's. */
    private Optional<String> refusal(AssertNotNull check) {
      Iterator<?> path = ((Iterable<?>) check.productElement(1)).iterator();
      String first = path.hasNext() ? String.valueOf(path.next()) : "";
      Optional<String> column = Arrays.stream(table.schema().fieldNames())
          .filter(first::equalsIgnoreCase)
          .findFirst();
      if (!path.hasNext()) {
        return column.map(this::refusal);
      }
      boolean isOfElements = path.next().equals("element") && !path.hasNext();
      return column.filter(name -> isOfElements).map(this::refusalOfElement);
    }

    private String refusal(String column) {
      return "NULL for the column '" + column + "' of " + table.name()
          + ", which is declared NOT NULL; give a value, or drop NOT NULL from the declaration";
    }

    private String refusalOfElement(String column) {
      return "NULL in an array of the column '" + column + "' of " + table.name()
          + ", whose arrays are tensors; give a value, or make the column with the option "
          + ZRecordOptions.SHAPE_OF + column + "=list, which lets elements be NULL";
    }
  }
}
