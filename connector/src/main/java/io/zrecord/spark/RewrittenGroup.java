package io.zrecord.spark;

import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a task tells the driver of its group of shards.
 *
 * @param shards the new ones
 * @param failure why there are none; null: they are all there
 */
record RewrittenGroup(List<ShardSummary> shards, @Nullable String failure)
    implements Serializable {}
