package io.zrecord.spark.rows;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.spark.path.SparkErrors;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.connector.write.DeltaBatchWrite;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * The driver's side of a change of records. The messages that reach {@link #commit} decide what
 * exists: attempts that lost leave files that no version names.
 */
final class RowBatchWrite implements DeltaBatchWrite {
  private final RowCommit commit;
  private final StatementReport report;
  private volatile boolean mayBePublished;

  RowBatchWrite(RowCommit commit, StatementReport report) {
    this.commit = commit;
    this.report = report;
  }

  @Override
  public DeltaWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    return SparkErrors.planned(() -> commit.writers(info, report.partly()));
  }

  /** Returns false, because each attempt has its own names. */
  @Override
  public boolean useCommitCoordinator() {
    return false;
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    SparkErrors.done(() -> publish(written(messages)));
  }

  private void publish(List<WrittenRows> rows) {
    mayBePublished = true;
    try {
      commit.publish(rows, report);
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException | IllegalArgumentException e) {
      mayBePublished = false;
      throw e;
    }
  }

  /**
   * Deletes only what is certainly in no version, because Spark may call this after a successful
   * commit.
   */
  @Override
  public void abort(WriterCommitMessage[] messages) {
    if (!mayBePublished) {
      commit.discard(written(messages));
    }
  }

  private static List<WrittenRows> written(WriterCommitMessage[] messages) {
    return Arrays.stream(messages)
        .filter(Objects::nonNull)
        .map(WrittenRows.class::cast)
        .toList();
  }
}
