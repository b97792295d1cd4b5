package io.zrecord.spark.rows;

import io.zrecord.spark.job.ObjectBytes;
import io.zrecord.table.ShardChange;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.jspecify.annotations.Nullable;

/**
 * The report of a task to the driver: what the task changed in shards, and what it wrote of new and
 * moved records. A plain class with bytes, see {@link ObjectBytes}.
 */
final class WrittenRows implements WriterCommitMessage {
  private static final long serialVersionUID = 1L;

  private final byte[] changes;
  private final @Nullable WriterCommitMessage shards;
  private final boolean hasNewRecords;

  /**
   * Makes a report.
   *
   * @param shards the report of the writer of new and moved records; null if there were none
   * @param hasNewRecords whether some records in those shards are new
   */
  WrittenRows(
      List<ShardChange> changes, @Nullable WriterCommitMessage shards, boolean hasNewRecords) {
    this.changes = ObjectBytes.of(new ArrayList<>(changes));
    this.shards = shards;
    this.hasNewRecords = hasNewRecords;
  }

  List<ShardChange> changes() {
    List<?> read = ObjectBytes.read(changes, ArrayList.class);
    return read.stream().map(ShardChange.class::cast).toList();
  }

  @Nullable
  WriterCommitMessage shards() {
    return shards;
  }

  boolean hasNewRecords() {
    return hasNewRecords;
  }
}
