package io.zrecord.spark.job;

import io.zrecord.RecordDataset;
import io.zrecord.rebalance.order.IndexWriter;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.util.List;

/**
 * Writes the index map of a shuffle, which is computed while the map is written.
 *
 * @param version the version that is put into another order
 * @param order the shuffle
 * @param options the layout of the map
 */
record ShuffleMap(long version, RecordOrder.Shuffle order, WriteOptions options)
    implements RewriteTask.Rewriting {
  @Override
  public List<ShardSummary> rewrite(byte[] message, Storage storage, RewriteCounters counters) {
    try (RecordDataset source = RecordDataset.open(
            RecordTable.at(storage).version(version), RecordDataset.ReadOptions.defaults());
        IndexWriter writer = IndexWriter.ofMap(storage, options)) {
      writer.putAll(order.arrange(source), ShardAttempt::requireRunning);
      return writer.finish().stream().toList();
    }
  }
}
