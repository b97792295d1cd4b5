package io.zrecord.spark.job;

import io.zrecord.RecordDataset;
import io.zrecord.read.ReadMetrics;
import io.zrecord.rebalance.GroupRewriter;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.RelayoutSource;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.UUID;

/**
 * Gathers the records of a {@link RangeOrder} from anywhere in a version.
 *
 * @param version the version that is put into another order
 * @param order the order
 * @param options the layout of the new shards
 * @param run identity of the run, shared by all its tasks
 */
record RangeRewriting(long version, RecordOrder order, RebalanceOptions options, UUID run)
    implements RewriteTask.Rewriting {
  @Override
  public List<ShardSummary> rewrite(byte[] message, Storage storage, RewriteCounters counters) {
    RangeOrder wanted = ObjectBytes.read(message, RangeOrder.class);
    TableSnapshot snapshot = RecordTable.at(storage).version(version);
    new RelayoutPlan(snapshot, order, options).requireSpace(wanted.range());
    ReadMetrics metrics = new ReadMetrics();
    try (RecordDataset source = RelayoutSource.open(snapshot, run, metrics);
        GroupRewriter rewriter =
            new GroupRewriter(storage, snapshot.schema(), options, counters::countRecords)) {
      List<ShardSummary> shards =
          rewriter.gather(source, wanted.open(storage, order, source), wanted.range());
      counters.count(metrics.bytesRead.sum(), shards);
      return shards;
    }
  }
}
