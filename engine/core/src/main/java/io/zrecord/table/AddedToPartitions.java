package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.PlacedShards;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether versions since the base of a change have put records into partitions that the
 * change replaces. Looks at one version after the other. Belongs to one thread.
 */
final class AddedToPartitions {
  private final ManifestLog log;
  private final TableChange change;
  private @Nullable Manifest before;

  AddedToPartitions(ManifestLog log, TableChange change) {
    this.log = log;
    this.change = change;
  }

  /** Takes note of the base; has no effect once a version since was looked at. */
  void begin(Manifest base) {
    if (before == null) {
      before = base;
    }
  }

  /**
   * Returns such a partition, or all of them if the version before is not known; empty if there is
   * none. Deletions and updates are compared shard by shard elsewhere.
   */
  Optional<List<@Nullable String>> to(Manifest version) {
    if (change.replacedPartitions().isEmpty()) {
      return Optional.empty();
    }
    Manifest known = before;
    before = version;
    Commutation.Operation operation = Commutation.Operation.of(version);
    if (operation != Commutation.Operation.APPEND && operation != Commutation.Operation.MERGE) {
      return Optional.empty();
    }
    if (known == null) {
      return Optional.of(List.of());
    }
    PlacedShards gone = PlacedShards.notIn(log, version, known);
    return PlacedShards.notIn(log, known, version).inOrder().stream()
        .map(PlacedShards.Placed::shard)
        .filter(shard -> gone.find(shard.id()).isEmpty())
        .map(ShardSummary::partition)
        .filter(change.replacedPartitions().get())
        .findFirst();
  }
}
