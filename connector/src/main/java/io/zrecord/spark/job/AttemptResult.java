package io.zrecord.spark.job;

import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The report of a task to the driver on the shards that it was to write.
 *
 * @param shards the new shards
 * @param failure why there are no shards, and never will be; null: all shards are there
 */
record AttemptResult(List<ShardSummary> shards, @Nullable ZRecordException failure)
    implements Serializable {}
