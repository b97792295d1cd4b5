package io.zrecord.rebalance;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * How the records of a version are written in another order: ranges of new indices, each by a {@link GroupRewriter} of its own, and all
 * published by one {@link RelayoutCommit}. From the manifest alone; immutable.
 *
 * @param snapshot the version, with at least one record
 * @param order that its records get
 * @param options how new shards are laid out; which ones would be rewritten has no meaning here
 */
public record RelayoutPlan(TableSnapshot snapshot, RecordOrder order, RebalanceOptions options) {

  /**
   * New indices of neighbouring records.
   *
   * @param from of the first
   * @param to behind the last, greater than {@code from}
   */
  public record Range(long from, long to) implements Serializable {}

  /** @throws IllegalArgumentException if there are no records, or they do not have the order */
  public RelayoutPlan {
    if (snapshot.length() == 0) {
      throw new IllegalArgumentException(
          "Cannot put " + snapshot + " into another order: it has no records");
    }
    order.requireFits(snapshot.schema());
  }

  /** Ranges of as many records as a shard of the size wanted has on average, in order. */
  public List<Range> ranges() {
    double shards = Math.ceil((double) valueBytes() / options.targetShardBytes());
    long step = (long) Math.ceil(snapshot.length() / Math.max(1, shards));
    List<Range> ranges = new ArrayList<>();
    for (long from = 0; from < snapshot.length(); from += step) {
      ranges.add(new Range(from, from + Math.min(step, snapshot.length() - from)));
    }
    return ranges;
  }

  /** Stored bytes of all values. */
  public long valueBytes() {
    return snapshot.shards().stream().mapToLong(RebalanceGroup::valueBytes).sum();
  }

  /**
   * Checks that there is room for what a range becomes, about.
   *
   * @throws io.zrecord.errors.DiskFullException if there is not
   */
  public void requireSpace(Range range) {
    double part = (double) (range.to() - range.from()) / snapshot.length();
    RewriteSpace.TABLE.require(snapshot.storage(), (long) (part * valueBytes()));
  }

  /** The same for all records and the index map. What finding the order takes on disk elsewhere, as with Spark, is not counted. */
  void requireSpace() {
    RewriteSpace.TABLE.require(snapshot.storage(), valueBytes() + Long.BYTES * snapshot.length());
  }

  /** Bytes of all chunk files. */
  public long chunkBytes() {
    return snapshot.shards().stream().mapToLong(ShardSummary::chunkBytes).sum();
  }
}
