package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import io.zrecord.internal.store.OpenShards;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.scan.Verification;
import io.zrecord.table.TableSnapshot;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Opens the version whose records a relayout gathers. Their values get new checksums, so that the old ones must hold in this run: what the
 * process has seen intact before may be damaged since. Each block is verified once in a run and a process. Thread-safe.
 */
public final class RelayoutSource {
  /** By location. */
  private static final Map<String, UUID> LAST_RUNS = new ConcurrentHashMap<>();

  private RelayoutSource() {}

  /**
   * Opens the version, for one task.
   *
   * @param run the same for all tasks of a run
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
