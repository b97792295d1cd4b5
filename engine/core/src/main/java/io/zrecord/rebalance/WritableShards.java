package io.zrecord.rebalance;

import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;

/** Requires that shards say nothing to writers that this release does not know. Stateless. */
final class WritableShards {
  private WritableShards() {}

  /**
   * Reads what the tables files of each shard say.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if a shard uses an unknown feature, which
   *     new shards would lack
   */
  static void require(Storage storage, List<ShardSummary> shards) {
    for (ShardSummary shard : shards) {
      TablesFile.requireWritable(storage, shard);
    }
  }
}
