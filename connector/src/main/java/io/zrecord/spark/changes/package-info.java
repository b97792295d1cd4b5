/**
 * What versions of a table changed, as rows: the record before, the record after, and which of them
 * a row is. The driver reads manifests and lists of shards; tasks read which records of a shard
 * changed, and the values of these records alone. Tables and scans live on the driver, readers in
 * tasks. Start with {@link io.zrecord.spark.changes.ChangesTable}.
 */
@NullMarked
package io.zrecord.spark.changes;

import org.jspecify.annotations.NullMarked;
