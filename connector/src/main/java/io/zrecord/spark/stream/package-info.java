/**
 * Structured Streaming: a table as the sink and as the source of a stream. An epoch of a sink is
 * one commit under a transaction. A position in a source names a version of the table. A source
 * reads the records that each version added. Readers and writers belong to one task, and all other
 * classes live on the driver. Throws exceptions of the engine inside, and Spark's to Spark. Public
 * to the rest of the connector only. Start with {@link io.zrecord.spark.stream.StreamableWrite} and
 * {@link io.zrecord.spark.stream.TableStream}.
 */
@NullMarked
package io.zrecord.spark.stream;

import org.jspecify.annotations.NullMarked;
