package io.zrecord.report;

import io.zrecord.inspect.ShardUsage;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.util.Optional;

/** Adds up how far a report is: only of a table is known what is to come. Belongs to one thread. */
final class ShardProgress {
  private final long knownBytes;
  private final DatasetReport.ProgressListener listener;
  private long doneBytes;

  /** @param shardCount shards that are looked at */
  ShardProgress(
      Optional<TableSnapshot> snapshot, int shardCount, DatasetReport.ProgressListener listener) {
    this.knownBytes = snapshot
        .filter(version -> !version.shards().isEmpty())
        .map(version -> (long)
            (version.shards().stream().mapToLong(ShardSummary::chunkBytes).sum()
                * ((double) shardCount / version.shards().size())))
        .orElse(0L);
    this.listener = listener;
  }

  void add(ShardUsage shard) {
    doneBytes += shard.space().fileBytes();
    listener.progress(doneBytes, Math.max(doneBytes, knownBytes));
  }
}
