/**
 * Fields as columns of Spark: the mapping of types, and the vectors that read columns out of a
 * batch of the engine. Vectors belong to one task. Public to the rest of the connector only. Start
 * with {@link io.zrecord.spark.column.SparkTypes}.
 */
@NullMarked
package io.zrecord.spark.column;

import org.jspecify.annotations.NullMarked;
