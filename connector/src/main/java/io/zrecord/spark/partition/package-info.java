/**
 * Partitions as Spark and the engine name them: columns of a statement, and values of a shard.
 * Classes are immutable. Refusals are {@link io.zrecord.errors.SchemaMismatchException} or
 * {@link java.lang.IllegalArgumentException}. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.partition.PartitionColumns}.
 */
@NullMarked
package io.zrecord.spark.partition;

import org.jspecify.annotations.NullMarked;
