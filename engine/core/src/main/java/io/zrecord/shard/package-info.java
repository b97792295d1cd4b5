/**
 * The description of shards: how to write a shard, and the summary of a written shard. Immutable
 * values, safe to share between threads and to serialize. Invalid values are an
 * {@link java.lang.IllegalArgumentException}. Start with {@link io.zrecord.shard.ShardSummary}.
 */
@NullMarked
package io.zrecord.shard;

import org.jspecify.annotations.NullMarked;
