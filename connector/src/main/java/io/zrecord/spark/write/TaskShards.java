package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** The shards that one attempt of a task writes. Belongs to one thread. */
interface TaskShards extends AutoCloseable {
  /** Returns the writer of the shard to which a row belongs. */
  ShardWriter shardOf(InternalRow row);

  /** Seals all shards. Those of one partition are in the order of their records. */
  List<ShardSummary> finish();

  long recordCount();

  /** Returns the bytes in chunk files so far. */
  long writtenBytes();

  /** Deletes all shards, sealed ones as well. */
  void discard();

  /** Deletes shards that were not sealed. */
  @Override
  void close();
}
