package io.zrecord.spark.job;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.java.function.Function;

/** Writes shards in a task, from a message that says which to an {@link AttemptResult}. */
final class RewriteTask implements Function<byte[], byte[]> {
  private static final long serialVersionUID = 1L;

  /** What is written. */
  interface Rewriting extends Serializable {
    /** Writes what the message says; nothing is left if it fails. */
    List<ShardSummary> rewrite(byte[] message, Storage storage, RewriteCounters counters);
  }

  private final String location;
  private final Rewriting rewriting;
  private final RewriteCounters counters;

  RewriteTask(String location, Rewriting rewriting, RewriteCounters counters) {
    this.location = location;
    this.rewriting = rewriting;
    this.counters = counters;
  }

  /** Id of the accumulator of records, of which an attempt counts its own. */
  long recordsId() {
    return counters.recordsId();
  }

  @Override
  public byte[] call(byte[] message) {
    return ShardAttempt.run(location, storage -> rewriting.rewrite(message, storage, counters));
  }
}
