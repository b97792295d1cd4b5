package io.zrecord.rebalance;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which shards of a version are rewritten, from the manifest alone. Meta files of shards are read only for changes of compression, and of
 * shards that have bytes without a value: dead ones, or left empty to align values.
 * Immutable.
 */
public final class RebalancePlan {
  /** Values begin on an 8-byte boundary. */
  private static final int MAX_PADDING_BYTES = 7;

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
   * Plans.
   *
   * @throws IllegalArgumentException if a compression is asked for a field that is not there
   */
  public static RebalancePlan of(TableSnapshot snapshot, RebalanceOptions options) {
    return new Planner(snapshot, options).plan();
  }

  /** The version that was planned on. */
  public TableSnapshot snapshot() {
    return snapshot;
  }

  public RebalanceOptions options() {
    return options;
  }

  /** The fields, with the compressions that new shards have. */
  public RecordSchema schema() {
    return schema;
  }

  /** The fields whose compression is to become another one. */
  RecordSchema recompressed() {
    return new RecordSchema(schema.fields().stream()
        .filter(field -> options.compression().containsKey(field.name()))
        .toList());
  }

  /** What is rewritten, in index order. */
  public List<RebalanceGroup> groups() {
    return groups;
  }

  /** Whether more would have been rewritten but for {@link RebalanceOptions#maxRunBytes}. */
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

  /** What would be done, as a JSON object on one line. */
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

  /** Collects groups while the shards go by. */
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
      if (current.isEmpty()) {
        currentFirst = firstIndex;
      }
      current.add(shard);
      currentReasons.addAll(reasons);
      currentBytes += RebalanceGroup.valueBytes(shard);
      if (currentBytes >= options.targetShardBytes()) {
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
          && !isSequential(shard)) {
        reasons.add(RebalanceGroup.Reason.SPARSE);
      }
      if (!options.compression().isEmpty() && hasOtherCompression(shard)) {
        reasons.add(RebalanceGroup.Reason.COMPRESSION);
      }
      return reasons;
    }

    /** Whether all values in its chunks are alive: whatever else is there, a shard with this alignment always has it. */
    private boolean isSequential(ShardSummary shard) {
      // Others have one sum for all chunks.
      return shard.chunks().size() > 1 || meta(shard).isSequential();
    }

    /** More bytes than these cannot be alive, padding and headers included: the others would go away by rewriting. */
    private long mostAliveBytes(ShardSummary shard) {
      long padded = schema.fields().stream().filter(field -> !field.isDense()).count();
      return RebalanceGroup.valueBytes(shard)
          + MAX_PADDING_BYTES * padded * shard.length()
          + ChunkHeader.BYTES * (long) shard.chunks().size();
    }

    private boolean hasOtherCompression(ShardSummary shard) {
      for (FieldMeta stored : meta(shard).fields()) {
        FieldSpec wanted = schema.find(stored.spec().id()).orElse(null);
        if (wanted != null
            && options.compression().containsKey(wanted.name())
            && !wanted.compression().equals(stored.spec().compression())) {
          return true;
        }
      }
      return false;
    }

    private ShardMeta meta(ShardSummary shard) {
      String name = shard.directory() + "/" + shard.metaFile();
      return ShardMeta.read(
          snapshot.storage().pathOf(name), snapshot.storage().read(name, SealedJson.MAX_BYTES));
    }
  }
}
