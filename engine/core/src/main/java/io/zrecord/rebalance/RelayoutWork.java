package io.zrecord.rebalance;

import io.zrecord.Spi;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Writes the shards of a relayout, in this process or in tasks of a cluster. An object serves one
 * run. Thread-safe, except {@link #close}.
 */
@Spi
public interface RelayoutWork extends AutoCloseable {
  /**
   * Writes the records of a range of new indices. If this fails, nothing of the shards is left;
   * otherwise they belong to the caller.
   *
   * @param onRecords takes the number of records written since the last call, now and then
   */
  List<ShardSummary> write(RelayoutPlan.Range range, LongConsumer onRecords);

  /**
   * Writes the index map. If this fails, nothing of the shard is left; otherwise it belongs to the
   * caller.
   */
  ShardSummary writeMap();

  /** Removes what only this work needed. */
  @Override
  void close();
}
