package io.zrecord.rebalance;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The shards of a version to rewrite, mostly by the manifest alone. Tables files of shards are read
 * only for changes of compression, and patches only of shards with very many chunks. Immutable.
 */
public final class RebalancePlan {
  /** Longest padding of a value, which starts at a multiple of 8 bytes. */
  private static final int MAX_PADDING_BYTES = 7;

  /** Each tables file is opened by itself: more of them than this make reading slow. */
  private static final int MAX_TABLES_FILES = 8;

  /**
   * Most shards of a group. Each of them is described in memory, and opened, however small it is.
   * Another run joins what the groups of this run become.
   */
  static final int MAX_GROUP_SHARDS = 2000;

  private final TableSnapshot snapshot;
  private final RebalanceOptions options;
  private final RecordSchema schema;
  private final List<RebalanceGroup> groups;
  private final boolean isCutShort;

  private RebalancePlan(
      TableSnapshot snapshot,
      RebalanceOptions options,
      RecordSchema schema,
      List<RebalanceGroup> groups,
      boolean isCutShort) {
    this.snapshot = snapshot;
    this.options = options;
    this.schema = schema;
    this.groups = List.copyOf(groups);
    this.isCutShort = isCutShort;
  }

  /**
   * Plans a rebalance.
   *
   * @throws IllegalArgumentException if a compression is asked for a field that does not exist
   */
  public static RebalancePlan of(TableSnapshot snapshot, RebalanceOptions options) {
    snapshot.requireWritable();
    return new Planner(snapshot, options).plan();
  }

  /** Returns the version that the plan is for. */
  public TableSnapshot snapshot() {
    return snapshot;
  }

  public RebalanceOptions options() {
    return options;
  }

  /** Returns the fields with the compressions of the new shards. */
  public RecordSchema schema() {
    return schema;
  }

  /** Returns the fields whose compression changes. */
  RecordSchema recompressed() {
    return new RecordSchema(schema.fields().stream()
        .filter(field -> options.compression().containsKey(field.name()))
        .toList());
  }

  /** Returns the groups to rewrite, in index order. */
  public List<RebalanceGroup> groups() {
    return groups;
  }

  /** Tells whether {@link RebalanceOptions#maxRunBytes} kept more groups from being rewritten. */
  public boolean isCutShort() {
    return isCutShort;
  }

  public long recordCount() {
    return groups.stream().mapToLong(RebalanceGroup::recordCount).sum();
  }

  public long valueBytes() {
    return groups.stream().mapToLong(RebalanceGroup::valueBytes).sum();
  }

  public long chunkBytes() {
    return groups.stream().mapToLong(RebalanceGroup::chunkBytes).sum();
  }

  /** Returns the plan as a JSON object on one line. */
  public String toJson() {
    return JsonNodeFactory.instance
        .objectNode()
        .put("version", snapshot.version())
        .put("groups", groups.size())
        .put("records", recordCount())
        .put("valueBytes", valueBytes())
        .put("chunkBytes", chunkBytes())
        .put("cutShort", isCutShort)
        .toString();
  }

  /** Bytes of a patch from which on its shard is written again. */
  private static final int MOST_PATCH_BYTES = PatchRef.MOST_BYTES / 4;

  /** Chunks of a patch from which on its shard is written again. */
  private static final int MOST_PATCH_CHUNKS = PatchRef.MOST_CHUNKS / 2;

  /** Collects groups while visiting the shards in order. */
  private static final class Planner {
    private final TableSnapshot snapshot;
    private final RebalanceOptions options;
    private final RecordSchema schema;
    private final List<RebalanceGroup> groups = new ArrayList<>();
    private final List<ShardSummary> current = new ArrayList<>();
    private final Set<RebalanceGroup.Reason> currentReasons =
        EnumSet.noneOf(RebalanceGroup.Reason.class);
    private long currentFirst;
    private long currentBytes;
    private long plannedBytes;
    private boolean isCutShort;

    Planner(TableSnapshot snapshot, RebalanceOptions options) {
      this.snapshot = snapshot;
      this.options = options;
      this.schema = recompressed(snapshot.schema(), options.compression());
    }

    private static RecordSchema recompressed(
        RecordSchema schema, Map<String, Compression> compression) {
      compression.keySet().forEach(schema::ordinal);
      return new RecordSchema(schema.fields().stream()
          .map(field ->
              field.withCompression(compression.getOrDefault(field.name(), field.compression())))
          .toList());
    }

    RebalancePlan plan() {
      List<ShardSummary> shards = snapshot.shards();
      for (int i = 0; i < shards.size(); i++) {
        Set<RebalanceGroup.Reason> reasons = reasons(shards.get(i), snapshot.firstIndex(i));
        if (reasons.isEmpty()) {
          endGroup();
        } else {
          add(shards.get(i), snapshot.firstIndex(i), reasons);
        }
      }
      endGroup();
      return new RebalancePlan(snapshot, options, schema, groups, isCutShort);
    }

    private void add(ShardSummary shard, long firstIndex, Set<RebalanceGroup.Reason> reasons) {
      if (!current.isEmpty() && !current.get(0).partition().equals(shard.partition())) {
        endGroup();
      }
      if (current.isEmpty()) {
        currentFirst = firstIndex;
      }
      current.add(shard);
      currentReasons.addAll(reasons);
      currentBytes += RebalanceGroup.valueBytes(shard);
      if (currentBytes >= options.targetShardBytes() || current.size() >= MAX_GROUP_SHARDS) {
        endGroup();
      }
    }

    private void endGroup() {
      boolean isWorthIt = current.size() > 1
          || (current.size() == 1
              && !currentReasons.equals(EnumSet.of(RebalanceGroup.Reason.SMALL)));
      if (isWorthIt) {
        if (plannedBytes >= options.maxRunBytes()) {
          isCutShort = true;
        } else {
          plannedBytes += currentBytes;
          groups.add(new RebalanceGroup(current, currentFirst, List.copyOf(currentReasons)));
        }
      }
      current.clear();
      currentReasons.clear();
      currentBytes = 0;
    }

    private Set<RebalanceGroup.Reason> reasons(ShardSummary shard, long firstIndex) {
      Set<RebalanceGroup.Reason> reasons = EnumSet.noneOf(RebalanceGroup.Reason.class);
      if (firstIndex < options.fromIndex() || shard.length() > options.toIndex() - firstIndex) {
        return reasons;
      }
      if (options.isOfAllShards()) {
        reasons.add(RebalanceGroup.Reason.ALL);
      }
      if (shard.chunkBytes() < options.minShardBytes()) {
        reasons.add(RebalanceGroup.Reason.SMALL);
      }
      if (mostAliveBytes(shard) < options.minUtilization() * shard.chunkBytes()
          && mayHaveDeadBytes(shard)) {
        reasons.add(RebalanceGroup.Reason.SPARSE);
      }
      if (isMuchPatched(shard)) {
        reasons.add(RebalanceGroup.Reason.PATCHED);
      }
      if (shard.tables().size() > MAX_TABLES_FILES) {
        reasons.add(RebalanceGroup.Reason.FILES);
      }
      if (!options.compression().isEmpty() && hasOtherCompression(shard)) {
        reasons.add(RebalanceGroup.Reason.COMPRESSION);
      }
      return reasons;
    }

    /**
     * Tells whether a shard has so large a patch, or one of so many chunks, that readers and the
     * next changes pay for it.
     */
    private boolean isMuchPatched(ShardSummary shard) {
      PatchRef patch = shard.patch();
      return patch != null
          && (shard.length() < options.minUtilization() * shard.slots()
              || patch.bytes() >= MOST_PATCH_BYTES
              || hasManyPatchChunks(shard));
    }

    /** The manifest does not tell chunks of a patch from others, so some patches are read. */
    private boolean hasManyPatchChunks(ShardSummary shard) {
      if (shard.chunkCount() < MOST_PATCH_CHUNKS) {
        return false;
      }
      PatchFile patch = OpenShards.unshared(snapshot.storage(), shard).patch();
      return patch != null && patch.json().chunks().size() >= MOST_PATCH_CHUNKS;
    }

    /**
     * Tells whether values in the shard's chunks may be dead: those of a store, of a field that was
     * rewritten or dropped, and of a patched shard. Where they are all alive, as in shards written
     * in bulk, any other bytes come back with every rewrite at this alignment.
     */
    private boolean mayHaveDeadBytes(ShardSummary shard) {
      return shard.chunks().stream().anyMatch(ChunkFile::isOfStore)
          || shard.tables().size() > 1
          || shard.patch() != null
          || !shard.valueBytes().keySet().stream().allMatch(this::isField);
    }

    private boolean isField(int id) {
      return schema.find(id).isPresent()
          || snapshot.schema().unreadable().stream().anyMatch(field -> field.id() == id);
    }

    private long aliveValueBytes(ShardSummary shard) {
      return shard.valueBytes().entrySet().stream()
          .filter(field -> isField(field.getKey()))
          .mapToLong(Map.Entry::getValue)
          .sum();
    }

    /**
     * Returns an upper bound of the live bytes, padding and headers included. Bytes beyond the
     * bound would go away by rewriting.
     */
    private long mostAliveBytes(ShardSummary shard) {
      long padded = schema.fields().stream().filter(field -> !field.isDense()).count();
      return aliveValueBytes(shard)
          + MAX_PADDING_BYTES * padded * shard.length()
          + (long) FileHeader.BYTES * shard.chunkCount();
    }

    private boolean hasOtherCompression(ShardSummary shard) {
      OpenShard open = OpenShards.unshared(snapshot.storage(), shard);
      for (FieldSpec wanted : schema.fields()) {
        if (options.compression().containsKey(wanted.name())
            && open.tablesOf(wanted.id())
                .filter(stored -> !stored.compression().equals(wanted.compression()))
                .isPresent()) {
          return true;
        }
      }
      return false;
    }
  }
}
