package io.zrecord.spark.rules;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetFailure;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.TableSnapshot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.analysis.NamedRelation;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.runtime.BoxedUnit;

/**
 * Refuses to overwrite a dataset with the result of a query on an older version of the dataset:
 * commits since that version would be lost. Later commits are left to the write's own commit, which
 * conflicts with every commit after the version that is the newest now.
 *
 * <p>The option {@code expectedVersion} replaces this check. Stateless.
 */
public final class OverwriteOfItself {
  private OverwriteOfItself() {}

  /**
   * Checks an analyzed plan.
   *
   * @throws DatasetFailure if an overwrite in the plan reads a version of its target that is not
   *     the newest
   */
  public static BoxedUnit check(LogicalPlan plan) {
    SparkErrors.done(() -> checkOverwrites(plan));
    return BoxedUnit.UNIT;
  }

  private static void checkOverwrites(LogicalPlan plan) {
    plan.foreach(node -> {
      if (node instanceof OverwriteByExpression write) {
        // A change of records may read a version that somebody chose.
        boolean isWhole = table(write.table())
            .filter(table -> !ReplacedRecords.isDecided(write.deleteExpr(), table))
            .isEmpty();
        checkOverwrite(plan, write.table(), write.writeOptions(), isWhole);
      } else if (node instanceof OverwritePartitionsDynamic write) {
        checkOverwrite(plan, write.table(), write.writeOptions(), true);
      } else if (node instanceof AppendData write && isReplaced(write.table())) {
        checkOverwrite(plan, write.table(), write.writeOptions(), true);
      }
      return BoxedUnit.UNIT;
    });
  }

  private static Optional<ZRecordTable> table(NamedRelation written) {
    return written instanceof DataSourceV2Relation relation
            && relation.table() instanceof ZRecordTable table
        ? Optional.of(table)
        : Optional.empty();
  }

  /**
   * Tells whether the table is staged by a REPLACE TABLE. Some releases then append to the table.
   */
  private static boolean isReplaced(NamedRelation written) {
    return table(written)
        .flatMap(ZRecordTable::target)
        .filter(WriteTarget::isReplaced)
        .isPresent();
  }

  private static void checkOverwrite(
      LogicalPlan plan,
      NamedRelation written,
      scala.collection.immutable.Map<String, String> options,
      boolean withChosen) {
    Optional<ZRecordTable> table = table(written);
    Optional<TableSnapshot> newest = table
        .flatMap(ZRecordTable::target)
        .filter(target -> target.store().isEmpty())
        .flatMap(WriteTarget::base)
        .map(DatasetVersion::snapshot);
    if (newest.isEmpty() || isDecided(newest.get(), conf(table.get(), written, options))) {
      return;
    }
    List<TableSnapshot> read = withChosen ? TablesRead.of(plan) : TablesRead.ofLoaded(plan);
    for (TableSnapshot snapshot : read) {
      if (!snapshot.recordsCommitId().equals(newest.get().recordsCommitId())
          && TablesRead.isSameTable(snapshot, newest.get())) {
        throw conflict(snapshot, newest.get());
      }
    }
  }

  /**
   * Returns the options of the statement, of the relation and of the table, as the write will see
   * them.
   */
  private static WriteConf conf(
      ZRecordTable table,
      NamedRelation written,
      scala.collection.immutable.Map<String, String> options) {
    Map<String, String> all = new HashMap<>(table.writeOptions());
    all.putAll(((DataSourceV2Relation) written).options().asCaseSensitiveMap());
    options.foreach(option -> all.put(option._1(), option._2()));
    return new WriteConf(new CaseInsensitiveStringMap(all));
  }

  /**
   * Tells whether the user named the newest version, or the write took effect before and does
   * nothing.
   */
  private static boolean isDecided(TableSnapshot newest, WriteConf conf) {
    return conf.expectedVersion().isPresent()
        || conf.transaction()
            .filter(transaction ->
                newest.transactions().getOrDefault(transaction.applicationId(), Long.MIN_VALUE)
                    >= transaction.number())
            .isPresent();
  }

  private static CommitConflictException conflict(TableSnapshot read, TableSnapshot newest) {
    String location = newest.storage().location();
    if (read.version() > newest.version()) {
      return new CommitConflictException(
          location,
          "Cannot commit the overwrite to " + location + ": the view that it writes was made at"
              + " version " + newest.version() + ", and its query reads version " + read.version()
              + "; make the view again, or name the path in the statement");
    }
    return new CommitConflictException(
        location,
        "Cannot commit the overwrite to " + location + ": its query reads version "
            + read.version() + ", but version " + newest.version()
            + " is the newest, and overwriting it would drop what was committed in between; read"
            + " the newest version and try again, or set the option "
            + ZRecordOptions.EXPECTED_VERSION + "=" + newest.version()
            + " to replace that version nevertheless");
  }
}
