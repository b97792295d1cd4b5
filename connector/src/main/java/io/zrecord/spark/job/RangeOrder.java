package io.zrecord.spark.job;

import io.zrecord.RecordDataset;
import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.order.OldIndices;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.rebalance.order.StoredOrder;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.List;

/**
 * What a task is told of the records that it writes.
 *
 * @param range their new indices
 * @param sorted shards that have their old indices; none: the task computes them
 * @param firstSorted new index of the first record of the first of these shards
 */
record RangeOrder(RelayoutPlan.Range range, List<ShardSummary> sorted, long firstSorted)
    implements Serializable {

  /** The old indices of the range, for one thread. */
  OldIndices open(Storage storage, RecordOrder order, RecordDataset source) {
    return sorted.isEmpty() ? order.arrange(source) : new StoredOrder(storage, sorted, firstSorted);
  }
}
