package io.zrecord.rebalance;

import io.zrecord.Spi;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Rewrites a group, in this process by {@link GroupRewriter}, or in a task of a cluster that has a
 * {@code GroupRewriter}. Thread-safe.
 */
@Spi
@FunctionalInterface
public interface GroupRewrite {
  /**
   * Writes the records of a group to new shards. If this fails, nothing of the shards is left;
   * otherwise they belong to the caller.
   *
   * @param onRecords takes the number of records written since the last call, now and then
   * @throws io.zrecord.errors.ZRecordException if this group stays as it is and others go on; any
   *     other exception ends the run
   */
  List<ShardSummary> rewrite(RebalanceGroup group, LongConsumer onRecords);
}
