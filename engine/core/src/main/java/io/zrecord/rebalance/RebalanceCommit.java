package io.zrecord.rebalance;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Replaces the shards of a group by rewritten ones. Thread-safe; commits of one process wait for
 * each other, because only one can be next.
 */
public final class RebalanceCommit {
  private final RebalancePlan plan;
  private final Map<String, String> properties;
  private long seen;

  /**
   * Prepares commits of a plan's groups.
   *
   * @param properties informative strings for the manifests, such as an application id
   */
  public RebalanceCommit(RebalancePlan plan, Map<String, String> properties) {
    this.plan = plan;
    this.properties = Map.copyOf(properties);
    this.seen = plan.snapshot().version();
  }

  /**
   * Publishes a version in which a group is replaced, on top of the newest version.
   *
   * @param rewritten the result of {@link GroupRewriter#rewrite} for the group
   * @throws io.zrecord.errors.CommitConflictException if another commit replaced or removed a shard
   *     of the group; nothing changed
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     published; delete nothing
   */
  public synchronized TableSnapshot commit(RebalanceGroup group, List<ShardSummary> rewritten) {
    Map<String, String> said = new TreeMap<>(properties);
    said.put("rewrittenRecords", Long.toString(group.recordCount()));
    said.put("removedShards", Integer.toString(group.shards().size()));
    said.put("addedShards", Integer.toString(rewritten.size()));
    said.put("removedBytes", Long.toString(group.chunkBytes()));
    TableSnapshot published = RecordTable.at(plan.snapshot().storage())
        .commit(TableChange.rebalance(
            plan.snapshot(),
            seen,
            plan.recompressed(),
            List.of(new TableChange.Replacement(group.shards(), rewritten)),
            said));
    // The shards decide whether a group is still in place, so no commit needs to look at these
    // versions again.
    seen = Math.max(seen, published.version());
    return published;
  }
}
