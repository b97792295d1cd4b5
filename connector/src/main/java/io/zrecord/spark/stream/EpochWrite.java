package io.zrecord.spark.stream;

import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.ZRecordBatchWrite;
import io.zrecord.table.TableChange;
import java.util.function.LongConsumer;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/**
 * The driver's side of an epoch of a stream. The name of the stream and the number of the epoch are
 * a transaction of the table, so that an epoch that Spark runs again, because it does not know that
 * the epoch was committed, adds nothing.
 */
final class EpochWrite implements StreamingWrite {
  /** What Spark sets for the jobs of a continuous query. */
  private static final String IS_CONTINUOUS = "__is_continuous_processing";

  private final ZRecordBatchWrite rows;
  private final String applicationId;
  private final LongConsumer check;
  private boolean isCommitted;

  /**
   * Plans the commit of an epoch.
   *
   * @param applicationId the name of the stream among the transactions of the table
   * @param check takes the number of the epoch, and throws if the epoch must not be committed
   */
  EpochWrite(ZRecordBatchWrite rows, String applicationId, LongConsumer check) {
    this.rows = rows;
    this.applicationId = applicationId;
    this.check = check;
  }

  @Override
  public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
    if (Boolean.parseBoolean(
        SparkSession.active().sparkContext().getLocalProperty(IS_CONTINUOUS))) {
      throw Unsupported.operation(
          "a stream with Trigger.Continuous", "use Trigger.ProcessingTime or Trigger.AvailableNow");
    }
    return new EpochWriterFactory(rows.createBatchWriterFactory(info));
  }

  /** Returns false, as {@link ZRecordBatchWrite#useCommitCoordinator} does. */
  @Override
  public boolean useCommitCoordinator() {
    return false;
  }

  /**
   * Commits the epoch. Does nothing if this write was committed before, because its files would
   * look like those of an epoch that was done by another write.
   */
  @Override
  public synchronized void commit(long epochId, WriterCommitMessage[] messages) {
    if (!isCommitted) {
      SparkErrors.done(() -> check.accept(epochId));
      rows.commit(messages, new TableChange.Transaction(applicationId, epochId));
      isCommitted = true;
    }
  }

  @Override
  public void abort(long epochId, WriterCommitMessage[] messages) {
    rows.abort(messages);
  }
}
