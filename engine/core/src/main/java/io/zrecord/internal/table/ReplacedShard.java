package io.zrecord.internal.table;

import io.zrecord.shard.ShardSummary;
import java.util.List;

/**
 * Shards that stand in the place of one shard of a list. Immutable.
 *
 * @param ordinal number of the replaced shard among those that the list's file leads to, from 0
 * @param length number of records of the replaced shard
 * @param shards the shards in its place; empty if its records were deleted
 */
public record ReplacedShard(int ordinal, long length, List<ShardSummary> shards) {
  public ReplacedShard {
    shards = List.copyOf(shards);
  }

  private ReplacedShard at(int otherOrdinal) {
    return new ReplacedShard(otherOrdinal, length, shards);
  }

  /** Returns this, counted from a place before or after the first shard. */
  ReplacedShard movedBy(int shards) {
    return shards == 0 ? this : at(Math.addExact(ordinal, shards));
  }

  ReplacedShard with(List<ShardSummary> others) {
    return new ReplacedShard(ordinal, length, others);
  }
}
