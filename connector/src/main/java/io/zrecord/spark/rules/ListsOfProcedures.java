package io.zrecord.spark.rules;

import io.zrecord.spark.procedure.Procedures;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.ResolvedNamespace;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.TableCatalog;

/**
 * Lets {@code SHOW PROCEDURES} of Spark 4.2 list those of a catalog of zrecord: the catalogs cannot
 * have Spark's interface for procedures, which Spark 3.5 lacks. Stateless.
 */
public final class ListsOfProcedures extends Rule<LogicalPlan> {
  private static final String COMMAND =
      "org.apache.spark.sql.execution.command.ShowProceduresCommand";

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.getClass().getName().equals(COMMAND)
        ? plan.mapChildren(ColumnsOfRowChanges.function(child -> listed((LogicalPlan) child)))
        : plan;
  }

  private static LogicalPlan listed(LogicalPlan namespace) {
    return namespace instanceof ResolvedNamespace resolved
            && resolved.catalog() instanceof TableCatalog tables
            && ProceduresOfCatalogs.isOurs(tables)
        ? PlanNodes.copy(namespace, Map.of(0, new Procedures(tables)))
        : namespace;
  }
}
