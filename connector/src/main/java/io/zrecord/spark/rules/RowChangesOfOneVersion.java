package io.zrecord.spark.rules;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.rows.RowOperation;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * Tells a statement that changes records whether its query reads the table besides, and refuses
 * such a query of another version: Spark may load a table again between analysis and execution.
 * Stateless.
 */
public final class RowChangesOfOneVersion extends Rule<LogicalPlan> {
  /**
   * Returns the plan.
   *
   * @throws io.zrecord.spark.path.DatasetFailure if the query reads two versions of the table
   */
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan instanceof WriteDelta write) {
      ColumnsOfRowChanges.operation(write.table())
          .ifPresent(operation -> SparkErrors.done(() -> check(write, operation)));
    }
    return plan;
  }

  private static void check(WriteDelta write, RowOperation operation) {
    Optional<TableSnapshot> base = operation.target().base().map(DatasetVersion::snapshot);
    List<TableSnapshot> others = TablesRead.of(write.query()).stream()
        .filter(
            read -> base.filter(target -> TablesRead.isSameTable(read, target)).isPresent())
        .toList();
    operation.readsOthers(!others.isEmpty());
    for (TableSnapshot other : others) {
      if (!other.recordsCommitId().equals(base.orElseThrow().recordsCommitId())) {
        String location = other.storage().location();
        throw new CommitConflictException(
            location,
            "Cannot change records of version " + base.get().version() + " of " + location
                + " by a query that reads version " + other.version()
                + " as well: another commit came in between; run the statement again");
      }
    }
  }
}
