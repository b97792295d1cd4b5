package io.zrecord.spark.rows;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.RowLevelOperation.Command;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * An update of some columns of records that are known by their indices in a version, which may be
 * older than the newest. Each row has a value for each of the columns. Lives on the driver.
 */
public final class ColumnsUpdate {
  private final RowCommit commit;

  private ColumnsUpdate(RowCommit commit) {
    this.commit = commit;
  }

  /**
   * Plans an update, and refuses what its commit would refuse.
   *
   * @param target the table, with the version that the indices are of
   * @param columns the columns of the rows, by the names of their fields
   */
  public static ColumnsUpdate plan(
      String location, WriteTarget target, StructType columns, WriteConf conf) {
    return new ColumnsUpdate(RowCommit.plan(
        location, target, Command.UPDATE, columns, conf, Optional.of(Set.of()), false, false));
  }

  /** Returns what makes the writers of the tasks, whose rows come in the order of the index. */
  public DeltaWriterFactory writers() {
    return commit.writers(() -> 0, Set.of());
  }

  /**
   * Publishes what the tasks have written.
   *
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed one of the
   *     records since; nothing was changed, and what was written is deleted
   */
  public TableSnapshot publish(List<WriterCommitMessage> written) {
    List<WrittenRows> rows = rows(written);
    try {
      return commit.publish(rows, StatementReport.of("update of columns"));
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException | IllegalArgumentException e) {
      commit.discard(rows);
      throw e;
    }
  }

  /** Deletes what tasks have written and no version names, as far as possible. */
  public void discard(List<WriterCommitMessage> written) {
    commit.discard(rows(written));
  }

  private static List<WrittenRows> rows(List<WriterCommitMessage> written) {
    return written.stream().map(WrittenRows.class::cast).toList();
  }
}
