package io.zrecord.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;

/**
 * Walks over the shards that a set touches, in index order. Shards without an index in the set cost
 * nothing.
 */
final class ShardCursor {
  private final TableSnapshot snapshot;
  private final RangeCursor ranges;
  private int ordinal = -1;
  private IndexSet local = IndexSet.empty();

  /** Starts before the first shard. The indices must be within the table. */
  ShardCursor(TableSnapshot snapshot, IndexSet indices) {
    this.snapshot = snapshot;
    this.ranges = new RangeCursor(indices);
  }

  boolean next() {
    if (ranges.isAtEnd()) {
      return false;
    }
    int following = ordinal + 1;
    boolean inFollowing = ordinal >= 0 && ranges.next() < snapshot.firstIndex(following + 1);
    ordinal = inFollowing ? following : snapshot.shardOf(ranges.next());
    local = ranges.takeBelow(snapshot.firstIndex(ordinal + 1)).shift(-firstIndex());
    return true;
  }

  ShardSummary shard() {
    return snapshot.shards().get(ordinal);
  }

  /** Returns the shard's first index in the table. */
  long firstIndex() {
    return snapshot.firstIndex(ordinal);
  }

  /** Returns the indices of the set within the shard; not empty. */
  IndexSet localIndices() {
    return local;
  }
}
