package io.zrecord.verify;

import io.zrecord.schema.RecordSchema;

/** Takes the shards of a table to check, one after another. */
@FunctionalInterface
public interface ShardVisitor {
  /**
   * Takes a shard.
   *
   * @param shard the check to run
   * @param schema the fields of a version that names the shard, for {@link ShardVerification#run};
   *     the same object for all shards of that version
   */
  void accept(ShardVerification shard, RecordSchema schema);
}
