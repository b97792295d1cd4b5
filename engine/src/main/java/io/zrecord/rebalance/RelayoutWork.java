package io.zrecord.rebalance;

import io.zrecord.Spi;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Where the shards of a relayout are written: in this process, or in tasks of a cluster. For one
 * run; thread-safe, but for {@link #close}.
 */
@Spi
public interface RelayoutWork extends AutoCloseable {
  /**
   * Writes the records of a range of new indices. Nothing is left of them if this fails; else they
   * belong to the caller.
   *
   * @param onRecords told of records that are written, so many more each time
   */
  List<ShardSummary> write(RelayoutPlan.Range range, LongConsumer onRecords);

  /** Writes the index map; likewise. */
  ShardSummary writeMap();

  /** Removes what only the work needed. */
  @Override
  void close();
}
