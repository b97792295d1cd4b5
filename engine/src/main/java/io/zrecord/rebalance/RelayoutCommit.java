package io.zrecord.rebalance;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import io.zrecord.table.ShardWriter;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.slf4j.LoggerFactory;

/** Writes the index map of a relayout and publishes its version. For one commit. */
public final class RelayoutCommit {
  private static final int BLOCK = 1 << 13;

  private final RelayoutPlan plan;
  private final Map<String, String> properties;

  /** @param properties informative strings for the manifest, such as an application id */
  public RelayoutCommit(RelayoutPlan plan, Map<String, String> properties) {
    this.plan = plan;
    this.properties = Map.copyOf(properties);
  }

  /**
   * Publishes the version.
   *
   * @param arrangement by which the shards were written
   * @param shards of all ranges, in order
   * @throws io.zrecord.errors.CommitConflictException if anything was committed since the version was read; nothing changed, and the shards
   *     are deleted, as after any other failure
   * @throws CommitOutcomeUnknownException if it may or may not have been published; nothing is deleted
   */
  public RelayoutResult commit(Arrangement arrangement, List<ShardSummary> shards) {
    ShardSummary map;
    try {
      map = writeMap(arrangement);
    } catch (RuntimeException | Error e) {
      discard(shards);
      throw e;
    }
    try {
      return publish(shards, map);
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException | IllegalArgumentException e) {
      discard(shards);
      discard(List.of(map));
      throw e;
    }
  }

  /** Always with checksums: a wrong index could not be told from a right one. */
  private ShardSummary writeMap(Arrangement arrangement) {
    WriteOptions write = plan.options().write().withChecksum(Checksum.CRC32C);
    long[] block = new long[BLOCK];
    try (ShardWriter writer =
        ShardWriter.create(plan.snapshot().storage(), UUID.randomUUID(), IndexMap.SCHEMA, write)) {
      for (long old = 0; old < arrangement.length(); old += BLOCK) {
        int count = (int) Math.min(BLOCK, arrangement.length() - old);
        arrangement.newIndices(old, block, count);
        for (int i = 0; i < count; i++) {
          writer.putLong(0, block[i]);
          writer.endRecord();
        }
      }
      return writer.finish().orElseThrow();
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
    TableSnapshot published = RecordTable.at(snapshot.storage())
        .commit(TableChange.relayout(snapshot, shards, map, said));
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

  /** Deletes shards that no version names and none ever will, as far as that is possible. */
  public void discard(List<ShardSummary> shards) {
    for (ShardSummary shard : shards) {
      try {
        plan.snapshot().storage().delete(shard.directory());
      } catch (ZRecordException e) {
        LoggerFactory.getLogger(RelayoutCommit.class)
            .warn(
                "Cannot delete {}, which a sweep of the table finds: {}",
                shard.directory(),
                e.getMessage());
      }
    }
  }
}
