package io.zrecord.spark.job;

import io.zrecord.rebalance.GroupRewriter;
import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;

/**
 * Rewrites a {@link RebalanceGroup}.
 *
 * @param schema the fields, as the new shards have them
 * @param options the layout of the new shards
 */
record GroupRewriting(RecordSchema schema, RebalanceOptions options)
    implements RewriteTask.Rewriting {
  @Override
  public List<ShardSummary> rewrite(byte[] message, Storage storage, RewriteCounters counters) {
    RebalanceGroup group = ObjectBytes.read(message, RebalanceGroup.class);
    try (GroupRewriter rewriter =
        new GroupRewriter(storage, schema, options, counters::countRecords)) {
      List<ShardSummary> shards = rewriter.rewrite(group);
      counters.count(group.chunkBytes(), shards);
      return shards;
    }
  }
}
