package io.zrecord.rebalance;

import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;

/**
 * Neighbouring shards that are rewritten and replaced together.
 *
 * @param shards in index order, at least one
 * @param firstIndex of the first record in the table
 * @param reasons why, each once
 */
public record RebalanceGroup(List<ShardSummary> shards, long firstIndex, List<Reason> reasons)
    implements Serializable {

  /** Why a shard is rewritten. */
  public enum Reason {
    /** It has few bytes, and neighbours that it can be joined with. */
    SMALL,
    /** Many of its bytes are dead. */
    SPARSE,
    /** A field has another compression than wanted. */
    COMPRESSION,
    /** All shards are to be rewritten. */
    ALL
  }

  public RebalanceGroup {
    shards = List.copyOf(shards);
    reasons = List.copyOf(reasons);
  }

  public long recordCount() {
    return shards.stream().mapToLong(ShardSummary::length).sum();
  }

  /** Stored bytes of the values. */
  public long valueBytes() {
    return shards.stream().mapToLong(RebalanceGroup::valueBytes).sum();
  }

  /** Bytes of the chunk files. */
  public long chunkBytes() {
    return shards.stream().mapToLong(ShardSummary::chunkBytes).sum();
  }

  /** What it is, for people. */
  @Override
  public String toString() {
    return shards.size() + " shards, records " + firstIndex + " to "
        + (firstIndex + recordCount() - 1) + ", " + chunkBytes() + " bytes: "
        + reasons.toString().toLowerCase(Locale.ROOT);
  }

  static RebalanceResult.Extent extent(List<ShardSummary> shards) {
    return new RebalanceResult.Extent(
        shards.size(),
        shards.stream().mapToLong(RebalanceGroup::valueBytes).sum(),
        shards.stream().mapToLong(ShardSummary::chunkBytes).sum());
  }

  static long valueBytes(ShardSummary shard) {
    return shard.valueBytes().values().stream().mapToLong(Long::longValue).sum();
  }
}
