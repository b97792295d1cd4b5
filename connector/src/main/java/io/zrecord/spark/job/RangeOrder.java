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
 * Tells a task which records to write.
 *
 * @param range new indices of the records
 * @param sorted shards with the old indices of the records; if empty, the task computes the old
 *     indices
 * @param firstSorted new index of the first record of the first of these shards
 */
record RangeOrder(RelayoutPlan.Range range, List<ShardSummary> sorted, long firstSorted)
    implements Serializable {

  /** Returns the old indices of the range, for one thread. */
  OldIndices open(Storage storage, RecordOrder order, RecordDataset source) {
    return sorted.isEmpty() ? order.arrange(source) : new StoredOrder(storage, sorted, firstSorted);
  }
}
