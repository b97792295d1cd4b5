package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.table.TableSnapshot;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Opens the version whose records a relayout gathers. The values get new checksums, so the old
 * checksums must hold in this run: a value that this process once verified may be damaged since.
 * Each process verifies each block once in a run. Thread-safe.
 */
public final class RelayoutSource {
  /** The last run for each location. */
  private static final Map<String, UUID> LAST_RUNS = new ConcurrentHashMap<>();

  private RelayoutSource() {}

  /**
   * Opens the version for one task.
   *
   * @param run identity of the run, shared by all its tasks
   */
  public static RecordDataset open(TableSnapshot snapshot, UUID run, ReadMetrics metrics) {
    String location = snapshot.storage().location();
    LAST_RUNS.compute(location, (same, last) -> {
      if (!run.equals(last)) {
        OpenShards.shared().dropAt(location);
      }
      return run;
    });
    return RecordDataset.open(snapshot, new RecordDataset.ReadOptions(Verification.FIRST, metrics));
  }
}
