/**
 * Structured Streaming: a table as the sink and as the source of a stream. An epoch of a sink is
 * one commit under a transaction. A source tells its position by versions of the table, and reads
 * what each of them added. Lives on the driver, but for readers and writers, which belong to one
 * task. Throws exceptions of the engine inside, and Spark's to Spark. Public to the rest of the
 * connector only. Start with {@link io.zrecord.spark.stream.StreamableWrite} and
 * {@link io.zrecord.spark.stream.TableStream}.
 */
@NullMarked
package io.zrecord.spark.stream;

import org.jspecify.annotations.NullMarked;
