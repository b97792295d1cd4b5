package io.zrecord.spark.rules;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.rows.RowOperation;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.runtime.BoxedUnit;

/**
 * Tells a statement that changes records, or appends some, whether its query reads the table
 * besides. Refuses changes by a query of another version: Spark may load a table again between
 * analysis and execution. Stateless.
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
    List<V2WriteCommand> appends = appends(plan);
    if (appends.size() == 1) {
      V2WriteCommand append = appends.get(0);
      table(append.table()).ifPresent(table -> SparkErrors.done(() -> check(append, table)));
    }
    return plan;
  }

  private static List<V2WriteCommand> appends(LogicalPlan plan) {
    List<V2WriteCommand> appends = new ArrayList<>();
    plan.foreach(node -> {
      if (node instanceof V2WriteCommand append && isAppend(append)) {
        appends.add(append);
      }
      return BoxedUnit.UNIT;
    });
    return appends;
  }

  /** Looks at an analyzed statement, whose parts some releases optimize one by one. */
  public static BoxedUnit checkSeveral(LogicalPlan plan) {
    List<V2WriteCommand> appends = appends(plan);
    if (appends.size() > 1) {
      appends.forEach(
          append -> table(append.table()).ifPresent(ZRecordTable::appendedSeveralTimes));
    }
    return BoxedUnit.UNIT;
  }

  /** Tells whether a write appends, which a {@code MERGE} that only inserts does as well. */
  private static boolean isAppend(V2WriteCommand write) {
    return write instanceof AppendData
        || write.getClass().getSimpleName().equals("InsertOnlyMerge"); // New in Spark 4.2.
  }

  private static Optional<ZRecordTable> table(Object written) {
    return written instanceof DataSourceV2Relation relation
            && relation.table() instanceof ZRecordTable table
        ? Optional.of(table)
        : Optional.empty();
  }

  private static void check(V2WriteCommand append, ZRecordTable table) {
    Optional<TableSnapshot> base = table
        .target()
        .filter(target -> target.store().isEmpty())
        .flatMap(WriteTarget::base)
        .map(DatasetVersion::snapshot);
    if (base.isEmpty()) {
      return;
    }
    List<TableSnapshot> reads = TablesRead.ofLoaded(append.query()).stream()
        .filter(read -> TablesRead.isSameTable(read, base.get()))
        .toList();
    if (!reads.isEmpty()) {
      table.readByItsAppend();
    }
    for (TableSnapshot read : reads) {
      if (base.get().isolation() == TableChange.Isolation.SERIALIZABLE
          && read.recordsVersion() < base.get().recordsVersion()) {
        String location = read.storage().location();
        throw new CommitConflictException(
            location,
            "Cannot append to " + location + " what its version " + read.version()
                + " has: version " + base.get().version() + " is the newest. Read the table again,"
                + " name the version as VERSION AS OF does, or give the table the property"
                + " zrecord.isolation = 'snapshot'");
      }
    }
  }

  private static void check(WriteDelta write, RowOperation operation) {
    Optional<TableSnapshot> base = operation.target().base().map(DatasetVersion::snapshot);
    List<TableSnapshot> others = TablesRead.ofLoaded(write.query()).stream()
        .filter(
            read -> base.filter(target -> TablesRead.isSameTable(read, target)).isPresent())
        .toList();
    AssignedMetadata.refuse(write.query(), operation);
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
