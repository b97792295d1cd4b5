package io.zrecord.verify;

import io.zrecord.schema.RecordSchema;

/** Takes the shards of a table that are to be checked, one after the other. */
@FunctionalInterface
public interface ShardVisitor {
  /**
   * A shard.
   *
   * @param shard what is to be done
   * @param schema the fields of a version that names it, which {@link ShardVerification#run} needs; the same object for all shards of it
   */
  void accept(ShardVerification shard, RecordSchema schema);
}
