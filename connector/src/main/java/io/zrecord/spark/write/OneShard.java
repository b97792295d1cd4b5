package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** All rows of a task in one shard. */
record OneShard(ShardWriter shard) implements TaskShards {
  @Override
  public ShardWriter shardOf(InternalRow row) {
    return shard;
  }

  @Override
  public List<ShardSummary> finish() {
    return shard.finish().stream().toList();
  }

  @Override
  public long recordCount() {
    return shard.recordCount();
  }

  @Override
  public long writtenBytes() {
    return shard.writtenBytes();
  }

  @Override
  public void discard() {
    shard.close();
  }

  @Override
  public void close() {
    shard.close();
  }
}
