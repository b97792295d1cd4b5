package io.zrecord.spark.write;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.table.TableChange;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * The driver's side of a write. The messages that reach {@link #commit} decide what exists:
 * attempts that lost leave files that no version names. Indices follow the order of Spark's
 * partitions, and the order of the rows in each. In a partitioned table, the values of the
 * partition fields come first in that order.
 */
public final class ZRecordBatchWrite implements BatchWrite {
  private final StructType columns;
  private final TableCommit commit;
  private volatile Outcome outcome = Outcome.NOT_STARTED;

  private enum Outcome {
    /** Nothing was published. */
    NOT_STARTED,
    /** Something may have been published. */
    UNCERTAIN,
    /** Publishing certainly failed. */
    REFUSED
  }

  public ZRecordBatchWrite(StructType columns, TableCommit commit) {
    this.columns = columns;
    this.commit = commit;
  }

  @Override
  public ZRecordWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    return SparkErrors.planned(() -> new ZRecordWriterFactory(
        commit.tableLocation(),
        ColumnMetadata.bare(columns),
        commit.writtenSchema(),
        commit.reserveNumbers(columns, info.numPartitions()),
        commit.partitioning(),
        commit.writeOptions()));
  }

  /**
   * Returns false. A denied commit would count as a failure of its task, and four failures fail the
   * job. Coordination is not needed, because each attempt has its own names.
   */
  @Override
  public boolean useCommitCoordinator() {
    return false;
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    SparkErrors.done(() -> publish(messages));
  }

  /**
   * Commits the rows of an epoch of a stream once, however often it is asked to. An epoch without
   * rows makes no version of a table that is there, except for the first epoch of a stream. Its
   * transaction shows later epochs that the table is still the one that the stream writes.
   *
   * @param epoch the number of the epoch, of the stream
   */
  public void commit(WriterCommitMessage[] messages, TableChange.Transaction epoch) {
    SparkErrors.done(() -> {
      if (!commit.isIdle(shards(messages)) || !commit.hasTransactions(epoch.applicationId())) {
        commit.under(epoch);
        publish(messages);
      }
    });
  }

  private void publish(WriterCommitMessage[] messages) {
    outcome = Outcome.UNCERTAIN;
    try {
      commit.publish(shards(messages), oldestFileMillis(messages));
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException e) {
      outcome = Outcome.REFUSED;
      throw e;
    }
  }

  /**
   * Deletes only shards that are certainly in no version, because Spark may call this after a
   * successful commit.
   */
  @Override
  public void abort(WriterCommitMessage[] messages) {
    if (outcome != Outcome.UNCERTAIN) {
      commit.discard(shards(messages));
    }
  }

  private static long oldestFileMillis(WriterCommitMessage[] messages) {
    return Arrays.stream(messages)
        .filter(Objects::nonNull)
        .mapToLong(message -> ((WrittenShards) message).oldestFileMillis())
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Returns the shards that tasks have written, in index order. */
  public static List<ShardSummary> shards(WriterCommitMessage[] messages) {
    return Arrays.stream(messages)
        .filter(Objects::nonNull)
        .flatMap(message -> ((WrittenShards) message).shards().stream())
        .toList();
  }
}
