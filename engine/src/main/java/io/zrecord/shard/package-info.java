/**
 * What is said of shards: how to write one, and the summary of one that was written. Immutable values, safe to share and to
 * serialize. Start with {@link io.zrecord.shard.ShardSummary}.
 */
@NullMarked
package io.zrecord.shard;

import org.jspecify.annotations.NullMarked;
