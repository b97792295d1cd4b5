package io.zrecord.spark.rules;

import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.runtime.BoxedUnit;

/** Finds the checks of a table that Spark has put into a plan, from 4.1 on. Stateless. */
final class ChecksOfPlan {
  private ChecksOfPlan() {}

  /** Returns the names of the columns that checks look at. */
  static Set<String> columns(LogicalPlan plan) {
    Set<String> names = new TreeSet<>();
    plan.foreach(ColumnsOfRowChanges.function(node -> {
      if (node instanceof Filter filter) {
        filter.condition().foreach(ColumnsOfRowChanges.function(part -> {
          if (part.getClass().getSimpleName().equals("CheckInvariant")) {
            ScalaLists.copy(((Expression) part).references(), Attribute.class)
                .forEach(column -> names.add(column.name()));
          }
          return BoxedUnit.UNIT;
        }));
      }
      return BoxedUnit.UNIT;
    }));
    return names;
  }
}
