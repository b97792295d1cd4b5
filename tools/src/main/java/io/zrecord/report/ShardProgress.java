package io.zrecord.report;

import io.zrecord.inspect.ShardUsage;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.util.Optional;

/** Adds up the progress of a report. The total is known only of a table. Belongs to one thread. */
final class ShardProgress {
  private final long knownBytes;
  private final ReportProgress listener;
  private long doneBytes;

  /**
   * Starts at nothing.
   *
   * @param shardCount number of shards in the report
   */
  ShardProgress(Optional<TableSnapshot> snapshot, int shardCount, ReportProgress listener) {
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
