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

  /** @throws IllegalArgumentException if there are no records */
  public RelayoutPlan {
    if (snapshot.length() == 0) {
      throw new IllegalArgumentException(
          "Cannot put " + snapshot + " into another order: it has no records");
    }
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

  /** Bytes of all chunk files. */
  public long chunkBytes() {
    return snapshot.shards().stream().mapToLong(ShardSummary::chunkBytes).sum();
  }
}
