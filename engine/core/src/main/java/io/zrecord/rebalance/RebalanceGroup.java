package io.zrecord.rebalance;

import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;

/**
 * Neighbouring shards that are rewritten and replaced together.
 *
 * @param shards in index order, at least one
 * @param firstIndex index in the table of the first record
 * @param reasons why the shards are rewritten, each reason once
 */
public record RebalanceGroup(List<ShardSummary> shards, long firstIndex, List<Reason> reasons)
    implements Serializable {

  /** A reason to rewrite a shard. */
  public enum Reason {
    /** The shard has few bytes, and neighbours to be joined with. */
    SMALL,
    /** Many of the shard's bytes are dead. */
    SPARSE,
    /** Fields that were added or rewritten are in many files. */
    FILES,
    /** A field has another compression than wanted. */
    COMPRESSION,
    /** Many of the shard's records were deleted, or many of its values changed, or often. */
    PATCHED,
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

  /** Returns the stored bytes of the values. */
  public long valueBytes() {
    return shards.stream().mapToLong(RebalanceGroup::valueBytes).sum();
  }

  /** Returns the bytes of the chunk files. */
  public long chunkBytes() {
    return shards.stream().mapToLong(ShardSummary::chunkBytes).sum();
  }

  /** Describes the group, for people. */
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
