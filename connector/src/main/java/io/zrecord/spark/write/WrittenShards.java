package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.job.ObjectBytes;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * The report of a task to the driver: the shards that the task wrote, none if there were no rows. A
 * plain class with bytes, see {@link ObjectBytes}.
 */
final class WrittenShards implements WriterCommitMessage {
  private static final long serialVersionUID = 1L;

  private final byte[] summaries;
  private final long oldestFileMillis;

  /**
   * Creates a report.
   *
   * @param shards shards of one partition in the order of their records
   * @param oldestFileMillis the least that {@link io.zrecord.table.RecordTable#check} said of the
   *     shards; {@link Long#MAX_VALUE} if nobody looked, or there is no shard
   */
  WrittenShards(List<ShardSummary> shards, long oldestFileMillis) {
    this.oldestFileMillis = oldestFileMillis;
    summaries = shards.isEmpty() ? new byte[0] : ObjectBytes.of(new ArrayList<>(shards));
  }

  /** Returns when the oldest file of the shards was changed last, as the task saw the files. */
  long oldestFileMillis() {
    return oldestFileMillis;
  }

  List<ShardSummary> shards() {
    List<ShardSummary> shards = new ArrayList<>();
    if (summaries.length > 0) {
      for (Object shard : ObjectBytes.read(summaries, ArrayList.class)) {
        shards.add((ShardSummary) shard);
      }
    }
    return shards;
  }
}
