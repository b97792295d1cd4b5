package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

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
   * Returns a plan with each change of records of a dataset changed.
   *
   * @param change takes the change and the table, and returns the change that replaces the change
   */
  static LogicalPlan changedRows(
      LogicalPlan plan, BiFunction<WriteDelta, ZRecordTable, LogicalPlan> change) {
    if (plan instanceof WriteDelta write) {
      return write.table() instanceof DataSourceV2Relation relation
              && relation.table() instanceof RowLevelOperationTable operation
              && operation.table() instanceof ZRecordTable table
          ? change.apply(write, table)
          : plan;
    }
    return plan.mapChildren(child -> changedRows(child, change));
  }
}
