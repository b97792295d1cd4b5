package io.zrecord.rebalance;

import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;

/** Requires that shards say nothing to writers that this release does not know. Stateless. */
final class WritableShards {
  private WritableShards() {}

  /**
   * Reads the meta file of each shard.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if a shard uses an unknown feature, which
   *     new shards would lack
   */
  static void require(Storage storage, List<ShardSummary> shards) {
    for (ShardSummary shard : shards) {
      String name = shard.directory() + "/" + shard.metaFile();
      ShardMeta.requireWritable(storage.pathOf(name), storage.read(name, SealedJson.MAX_BYTES));
    }
  }
}
