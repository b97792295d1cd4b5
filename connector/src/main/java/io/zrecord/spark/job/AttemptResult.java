package io.zrecord.spark.job;

import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a task tells the driver of the shards that it was to write.
 *
 * @param shards the new ones
 * @param failure why there are none, and never will be; null: they are all there
 */
record AttemptResult(List<ShardSummary> shards, @Nullable ZRecordException failure)
    implements Serializable {}
