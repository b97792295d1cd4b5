package io.zrecord.spark.job;

import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.java.function.Function;

/**
 * Writes shards in a task. Takes a message that says which shards, and returns an
 * {@link AttemptResult}.
 */
final class RewriteTask implements Function<byte[], byte[]> {
  private static final long serialVersionUID = 1L;

  /** The kind of a rewrite. */
  interface Rewriting extends Serializable {
    /** Writes the shards that the message describes. Nothing is left if this fails. */
    List<ShardSummary> rewrite(byte[] message, Storage storage, RewriteCounters counters);
  }

  private final TableLocation location;
  private final Rewriting rewriting;
  private final RewriteCounters counters;

  RewriteTask(TableLocation location, Rewriting rewriting, RewriteCounters counters) {
    this.location = location;
    this.rewriting = rewriting;
    this.counters = counters;
  }

  /** Returns the id of the accumulator of records. Each attempt counts its own records. */
  long recordsId() {
    return counters.recordsId();
  }

  @Override
  public byte[] call(byte[] message) {
    return ShardAttempt.run(location, storage -> rewriting.rewrite(message, storage, counters));
  }
}
