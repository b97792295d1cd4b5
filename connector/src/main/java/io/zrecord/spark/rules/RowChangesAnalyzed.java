package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.Option;

/**
 * Looks at statements that change records while Spark analyzes them. Refuses assignments to
 * metadata columns, and an evolution of the schema, where Spark would leave them out. Takes away a
 * condition that Spark 4.2 adds so that it can run the condition of the statement as a query of its
 * own before: this scan is not narrowed down by one, and Spark refuses the plan if the condition
 * names metadata columns. Stateless.
 */
public final class RowChangesAnalyzed extends Rule<LogicalPlan> {
  private static final int ARGUMENTS_WITH_A_FILTER = 7;

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan instanceof UpdateTable update) {
      refuse(update.table(), assignments(PlanNodes.called(update, "assignments")));
    } else if (plan instanceof MergeIntoTable merge) {
      List<Assignment> all = new ArrayList<>();
      for (String actions :
          List.of("matchedActions", "notMatchedActions", "notMatchedBySourceActions")) {
        for (Expression action :
            ScalaLists.copy(PlanNodes.called(merge, actions), Expression.class)) {
          all.addAll(assignments(PlanNodes.called(action, "children")));
        }
      }
      refuse(merge.targetTable(), all);
      refuseEvolution(merge);
    } else if (plan instanceof WriteDelta write
        && ColumnsOfRowChanges.operation(write.table()).isPresent()) {
      return withoutFilter(write);
    }
    return plan;
  }

  /**
   * Spark 4.0 has the words for an evolution of the schema, and asks no table for it. Later ones
   * ignore the words for a table that does not have it.
   */
  private static void refuseEvolution(MergeIntoTable merge) {
    if (evolves(merge)
        && WritesOfTables.read(merge.targetTable())
            .filter(table -> !table.hasEvolution())
            .isPresent()) {
      SparkErrors.done(() -> {
        throw Unsupported.operation(
            ZRecordTable.evolves()
                ? "MERGE WITH SCHEMA EVOLUTION of a table of this session catalog"
                : "MERGE WITH SCHEMA EVOLUTION on this release of Spark",
            "add the columns first, as ALTER TABLE … ADD COLUMNS does");
      });
    }
  }

  private static boolean evolves(MergeIntoTable merge) {
    try {
      return (boolean) MergeIntoTable.class.getMethod("withSchemaEvolution").invoke(merge);
    } catch (ReflectiveOperationException e) {
      return false; // Spark 3.5 has no such clause.
    }
  }

  /** Returns a change whose condition is not a query of its own. */
  static WriteDelta withoutFilter(WriteDelta write) {
    int filter = ARGUMENTS_WITH_A_FILTER - 2;
    return write.productArity() == ARGUMENTS_WITH_A_FILTER
            && write.productElement(filter) instanceof Option<?> given
            && given.isDefined()
        ? (WriteDelta) PlanNodes.copy((LogicalPlan) write, Map.of(filter, Option.empty()))
        : write;
  }

  /** Returns those of some expressions that are assignments. */
  private static List<Assignment> assignments(Object expressions) {
    return ScalaLists.copy(expressions, Expression.class).stream()
        .filter(Assignment.class::isInstance)
        .map(Assignment.class::cast)
        .toList();
  }

  private static void refuse(LogicalPlan target, List<Assignment> assignments) {
    for (Assignment assignment : assignments) {
      String name = name(assignment.key());
      if (MetadataColumns.areHiddenBy(name)
          && !assignment.value().equals(assignment.key()) // Which Spark 3.5 adds itself.
          && WritesOfTables.read(target).isPresent()) {
        SparkErrors.done(() -> {
          throw Unsupported.operation(
              "assigning '" + name + "', which says where a record is",
              "assign columns of the table; a relayout changes the order of records");
        });
      }
    }
  }

  private static String name(Expression key) {
    if (key instanceof NamedExpression named && !(key instanceof UnresolvedAttribute)) {
      return named.name();
    }
    List<String> parts = key instanceof UnresolvedAttribute unresolved
        ? ScalaLists.copy(PlanNodes.called(unresolved, "nameParts"), String.class)
        : List.of();
    return parts.isEmpty() ? "" : parts.get(parts.size() - 1);
  }
}
