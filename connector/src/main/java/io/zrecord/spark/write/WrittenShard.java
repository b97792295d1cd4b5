package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.job.ObjectBytes;
import java.util.Optional;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * The report of a task to the driver: the shard that the task wrote, if there were rows. A plain
 * class with bytes, see {@link ObjectBytes}.
 */
final class WrittenShard implements WriterCommitMessage {
  private static final long serialVersionUID = 1L;

  private final byte[] summary;
  private final long oldestFileMillis;

  /**
   * Creates a report.
   *
   * @param oldestFileMillis what {@link io.zrecord.table.RecordTable#check} said of the shard;
   *     {@link Long#MAX_VALUE} if nobody looked, or there is no shard
   */
  WrittenShard(Optional<ShardSummary> shard, long oldestFileMillis) {
    this.oldestFileMillis = oldestFileMillis;
    summary = shard.map(ObjectBytes::of).orElseGet(() -> new byte[0]);
  }

  /** Returns when the oldest file of the shard was changed last, as the task saw the files. */
  long oldestFileMillis() {
    return oldestFileMillis;
  }

  Optional<ShardSummary> shard() {
    return summary.length == 0
        ? Optional.empty()
        : Optional.of(ObjectBytes.read(summary, ShardSummary.class));
  }
}
