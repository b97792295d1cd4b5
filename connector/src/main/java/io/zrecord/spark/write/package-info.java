/**
 * Writes to a table: one shard for each task, and one commit on the driver. A writer belongs to one
 * task. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.write.ZRecordWriteBuilder}.
 */
@NullMarked
package io.zrecord.spark.write;

import org.jspecify.annotations.NullMarked;
