/**
 * The procedures of SQL: {@code CALL lake.system.rebalance('db.photos')}, on Spark 4.0 and later.
 * What each of them does, Java and {@code spark-submit} can do as well. A procedure runs on the
 * driver, and starts Spark jobs for long work. Only {@code Arguments} has a state. Start with
 * {@link io.zrecord.spark.procedure.Procedures}.
 */
@NullMarked
package io.zrecord.spark.procedure;

import org.jspecify.annotations.NullMarked;
