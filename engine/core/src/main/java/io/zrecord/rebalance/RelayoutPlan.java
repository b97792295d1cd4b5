package io.zrecord.rebalance;

import io.zrecord.internal.dataset.RewriteSpace;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * How to write the records of a version in another order. A {@link GroupRewriter} of its own writes
 * each range of new indices, and one {@link RelayoutCommit} publishes all ranges. Made from the
 * manifest alone; immutable.
 *
 * @param snapshot the version, with at least one record
 * @param order the new order of the records
 * @param options the layout of new shards; the choice of shards has no meaning here
 */
public record RelayoutPlan(TableSnapshot snapshot, RecordOrder order, RebalanceOptions options) {

  /**
   * New indices of neighbouring records.
   *
   * @param from first index
   * @param to index after the last, greater than {@code from}
   */
  public record Range(long from, long to) implements Serializable {}

  /**
   * Checks the plan.
   *
   * @throws IllegalArgumentException if there are no records, or the order does not fit the records
   */
  public RelayoutPlan {
    if (snapshot.length() == 0) {
      throw new IllegalArgumentException(
          "Cannot put " + snapshot + " into another order: it has no records");
    }
    if (!snapshot.partitionFields().isEmpty()) {
      throw new IllegalArgumentException("Cannot put " + snapshot
          + " into another order: it is partitioned, and a shard has records of one partition");
    }
    order.requireFits(snapshot.schema());
  }

  /**
   * Returns the ranges in order. Each has as many records as an average shard of the target size.
   */
  public List<Range> ranges() {
    double shards = Math.ceil((double) valueBytes() / options.targetShardBytes());
    long step = (long) Math.ceil(snapshot.length() / Math.max(1, shards));
    List<Range> ranges = new ArrayList<>();
    for (long from = 0; from < snapshot.length(); from += step) {
      ranges.add(new Range(from, from + Math.min(step, snapshot.length() - from)));
    }
    return ranges;
  }

  /** Returns the stored bytes of all values. */
  public long valueBytes() {
    return snapshot.shards().stream().mapToLong(RebalanceGroup::valueBytes).sum();
  }

  /**
   * Checks that there is room for about the size of a range.
   *
   * @throws io.zrecord.errors.DiskFullException if there is not
   */
  public void requireSpace(Range range) {
    double part = (double) (range.to() - range.from()) / snapshot.length();
    RewriteSpace.TABLE.require(snapshot.storage(), (long) (part * valueBytes()));
  }

  /**
   * Checks that there is room for all records and the index map. Disk space that finding the order
   * takes elsewhere, as with Spark, is not counted.
   */
  void requireSpace() {
    RewriteSpace.TABLE.require(snapshot.storage(), valueBytes() + Long.BYTES * snapshot.length());
  }

  /** Returns the bytes of all chunk files. */
  public long chunkBytes() {
    return snapshot.shards().stream().mapToLong(ShardSummary::chunkBytes).sum();
  }
}
