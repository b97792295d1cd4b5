package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * Finds the records of shards that a condition on the metadata column {@code _shard} chooses: the
 * index of the first record of a shard. Reads lists of shards, and opens none. Immutable.
 */
final class ShardStarts {
  private final List<TableSnapshot> snapshots;

  /** Looks at versions that follow each other. */
  ShardStarts(List<TableSnapshot> snapshots) {
    this.snapshots = List.copyOf(snapshots);
  }

  /** Returns the indices of all records of the shards whose first index meets a condition. */
  IndexSet where(LongPredicate condition) {
    IndexSet.Builder found = new IndexSet.Builder();
    long first = 0;
    for (TableSnapshot snapshot : snapshots) {
      snapshot.loadShards(IndexSet.range(0, snapshot.length()));
      for (int i = 0; i < snapshot.shards().size(); i++) {
        long from = first + snapshot.firstIndex(i);
        long to = first + snapshot.firstIndex(i + 1);
        if (from < to && condition.test(from)) {
          found.add(from, to);
        }
      }
      first += snapshot.length();
    }
    return found.build();
  }
}
