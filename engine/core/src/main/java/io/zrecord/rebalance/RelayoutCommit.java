package io.zrecord.rebalance;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Publishes the version that a relayout wrote. For one commit. */
public final class RelayoutCommit {
  private final RelayoutPlan plan;
  private final RecordTable table;
  private final Map<String, String> properties;

  /**
   * Prepares the commit.
   *
   * @param properties informative strings for the manifest, such as an application id
   */
  public RelayoutCommit(RelayoutPlan plan, Map<String, String> properties) {
    this.plan = plan;
    this.table = RecordTable.at(plan.snapshot().storage());
    this.properties = Map.copyOf(properties);
  }

  /**
   * Publishes the version.
   *
   * @param map the index map
   * @param shards shards of all ranges, in order
   * @throws io.zrecord.errors.CommitConflictException if anything was committed since the version
   *     was read; nothing changed, and the shards are deleted, as after any other failure
   * @throws CommitOutcomeUnknownException if the version may or may not have been published;
   *     nothing is deleted
   */
  public RelayoutResult commit(ShardSummary map, List<ShardSummary> shards) {
    try {
      return publish(shards, map);
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException | IllegalArgumentException e) {
      table.discard(shards);
      table.discard(List.of(map));
      throw e;
    }
  }

  private RelayoutResult publish(List<ShardSummary> shards, ShardSummary map) {
    TableSnapshot snapshot = plan.snapshot();
    Map<String, String> said = new TreeMap<>(properties);
    said.put("order", plan.order().toString());
    said.put("rewrittenRecords", Long.toString(snapshot.length()));
    said.put("removedShards", Integer.toString(snapshot.shards().size()));
    said.put("addedShards", Integer.toString(shards.size()));
    said.put("removedBytes", Long.toString(plan.chunkBytes()));
    TableSnapshot published = table.commit(TableChange.relayout(snapshot, shards, map, said));
    return new RelayoutResult(
        published,
        snapshot.length(),
        plan.valueBytes(),
        plan.chunkBytes(),
        shards.stream().mapToLong(ShardSummary::chunkBytes).sum(),
        snapshot.shards().size(),
        shards.size(),
        map.directory());
  }
}
