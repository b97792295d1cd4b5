package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.changes.ChangesTable;
import io.zrecord.spark.changes.TableChangelog;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.PartialFunction;
import scala.Product;
import scala.runtime.BoxedUnit;

/**
 * Collects the versions of datasets that a plan reads, including its subqueries and what is cached.
 * Belongs to one thread.
 */
final class TablesRead {
  private final List<TableSnapshot> versions = new ArrayList<>();
  private final boolean withChosen;

  private TablesRead(boolean withChosen) {
    this.withChosen = withChosen;
  }

  static List<TableSnapshot> of(LogicalPlan plan) {
    return of(plan, true);
  }

  /**
   * Returns the versions that are read because they were the newest when their tables were loaded.
   */
  static List<TableSnapshot> ofLoaded(LogicalPlan plan) {
    return of(plan, false);
  }

  private static List<TableSnapshot> of(LogicalPlan plan, boolean withChosen) {
    TablesRead read = new TablesRead(withChosen);
    read.walk(plan);
    return read.versions;
  }

  /** Spellings of a host differ: a table with the same identity and path is taken for the same. */
  static boolean isSameTable(TableSnapshot read, TableSnapshot written) {
    return SparkStorages.isWithin(read.storage(), written.storage())
        || (read.tableId().equals(written.tableId())
            && SparkStorages.haveSamePath(read.storage(), written.storage()));
  }

  private void walk(LogicalPlan plan) {
    SubqueryVisitor subqueries = new SubqueryVisitor();
    plan.foreach(node -> {
      if (node instanceof DataSourceV2Relation relation) {
        add(relation);
      } else if (node instanceof DataSourceV2ScanRelation scan) {
        add(scan.relation());
      } else if (node instanceof InMemoryRelation cached) {
        walk(cached.cachedPlan());
      }
      node.transformExpressions(subqueries);
      return BoxedUnit.UNIT;
    });
  }

  /**
   * Walks the plan of cached rows, which may be made of other cached rows. Checks before the
   * optimizer see no cached rows, but tables.
   */
  private void walk(SparkPlan cached) {
    SubqueryVisitor subqueries = new SubqueryVisitor();
    cached.foreach(node -> {
      if (node instanceof BatchScanExec scan) {
        add(scan.table(), CaseInsensitiveStringMap.empty());
      } else if (node instanceof InMemoryTableScanExec scan) {
        walk(scan.relation().cachedPlan());
      } else if (node instanceof AdaptiveSparkPlanExec adaptive) {
        walk(adaptive.inputPlan());
      }
      node.transformExpressions(subqueries);
      return BoxedUnit.UNIT;
    });
  }

  private void add(DataSourceV2Relation relation) {
    add(relation.table(), relation.options());
  }

  private void add(Table read, CaseInsensitiveStringMap options) {
    if (read instanceof ZRecordTable table && (withChosen || !table.isOfChosenVersion(options))) {
      versions.addAll(table.snapshots(options));
    }
    if (read instanceof ChangesTable changes && (withChosen || changes.isToNewest())) {
      versions.add(changes.last());
    }
    if (read.getClass().getSimpleName().equals("ChangelogTable") // New in Spark 4.2.
        && ((Product) read).productElement(0) instanceof TableChangelog changes
        && (withChosen || changes.isToNewest())) {
      versions.add(changes.last());
    }
  }

  /**
   * Walks the plans in expressions. The function is defined nowhere, so it changes nothing.
   * Collecting a node's expressions instead would give lists of types that differ between releases.
   */
  private final class SubqueryVisitor implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      if (expression instanceof PlanExpression<?> subquery) {
        if (subquery.plan() instanceof LogicalPlan plan) {
          walk(plan);
        } else if (subquery.plan() instanceof SparkPlan plan) {
          walk(plan);
        }
      }
      return false;
    }

    @Override
    public Expression apply(Expression expression) {
      return expression;
    }
  }
}
