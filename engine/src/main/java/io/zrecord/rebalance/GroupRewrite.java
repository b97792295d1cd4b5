package io.zrecord.rebalance;

import io.zrecord.Spi;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Where a group is rewritten: in this process by {@link GroupRewriter}, or in a task of a cluster
 * that has one. Thread-safe.
 */
@Spi
@FunctionalInterface
public interface GroupRewrite {
  /**
   * Writes the records of a group to new shards. Nothing is left of them if this fails; else they
   * belong to the caller.
   *
   * @param onRecords told of records that are written, so many more each time
   * @throws io.zrecord.errors.ZRecordException if this group stays as it is and others go on; what
   *     else is thrown ends the run
   */
  List<ShardSummary> rewrite(RebalanceGroup group, LongConsumer onRecords);
}
