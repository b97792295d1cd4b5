package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.runtime.BoxedUnit;

/** Finds the writes in a plan. One statement may have several. Stateless. */
final class WritesOfTables {
  private WritesOfTables() {}

  /**
   * Returns a plan with each write of rows to a dataset changed.
   *
   * @param change takes the write and the table, and returns the write that replaces the write
   */
  static LogicalPlan changed(
      LogicalPlan plan, BiFunction<V2WriteCommand, ZRecordTable, LogicalPlan> change) {
    if (plan instanceof V2WriteCommand write) {
      return write.table() instanceof DataSourceV2Relation relation
              && relation.table() instanceof ZRecordTable table
          ? change.apply(write, table)
          : plan;
    }
    return plan.mapChildren(child -> changed(child, change));
  }

  /**
   * Returns a plan with each statement that changes records of a dataset changed, before and after
   * Spark turns the statement into a write.
   *
   * @param change takes the statement and the table, and returns what replaces the statement
   */
  static LogicalPlan changedRows(
      LogicalPlan plan, BiFunction<LogicalPlan, ZRecordTable, LogicalPlan> change) {
    Optional<ZRecordTable> table = Optional.empty();
    if (plan instanceof UpdateTable update) {
      table = read(update.table());
    } else if (plan instanceof MergeIntoTable merge) {
      table = read(merge.targetTable());
    } else if (plan instanceof WriteDelta write
        && write.table() instanceof DataSourceV2Relation relation
        && relation.table() instanceof RowLevelOperationTable operation
        && operation.table() instanceof ZRecordTable changed) {
      table = Optional.of(changed);
    } else if (!(plan instanceof V2WriteCommand)) {
      return plan.mapChildren(child -> changedRows(child, change));
    }
    return table.map(found -> change.apply(plan, found)).orElse(plan);
  }

  /** Returns the dataset that the target of a statement is; empty if it is none of zrecord. */
  static Optional<ZRecordTable> read(LogicalPlan target) {
    List<ZRecordTable> found = new ArrayList<>();
    target.foreach(ColumnsOfRowChanges.function(node -> {
      if (node instanceof DataSourceV2Relation relation
          && relation.table() instanceof ZRecordTable table) {
        found.add(table);
      }
      return BoxedUnit.UNIT;
    }));
    return found.stream().findFirst();
  }
}
