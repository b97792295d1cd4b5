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

  ShardProgress(Optional<TableSnapshot> snapshot, DatasetReport.ProgressListener listener) {
    this.knownBytes = snapshot
        .map(version ->
            version.shards().stream().mapToLong(ShardSummary::chunkBytes).sum())
        .orElse(0L);
    this.listener = listener;
  }

  void add(ShardUsage shard) {
    doneBytes += shard.space().fileBytes();
    listener.progress(doneBytes, Math.max(doneBytes, knownBytes));
  }
}
