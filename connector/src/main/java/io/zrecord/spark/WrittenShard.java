package io.zrecord.spark;

import io.zrecord.shard.ShardSummary;
import java.util.Optional;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.jspecify.annotations.Nullable;

/**
 * What a task tells the driver.
 *
 * @param shardOrNull the shard that it wrote; null if there were no rows
 */
record WrittenShard(@Nullable ShardSummary shardOrNull) implements WriterCommitMessage {
  Optional<ShardSummary> shard() {
    return Optional.ofNullable(shardOrNull);
  }
}
