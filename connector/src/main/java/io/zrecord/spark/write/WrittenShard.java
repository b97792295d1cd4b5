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

  WrittenShard(Optional<ShardSummary> shard) {
    summary = shard.map(ObjectBytes::of).orElseGet(() -> new byte[0]);
  }

  Optional<ShardSummary> shard() {
    return summary.length == 0
        ? Optional.empty()
        : Optional.of(ObjectBytes.read(summary, ShardSummary.class));
  }
}
