/**
 * Values that a data frame brings for records which it names by their indices: the rows in the
 * order of the records, and the jobs that write the values to shards. Throws exceptions of the
 * engine. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.byindex.RowsByIndex}.
 */
@NullMarked
package io.zrecord.spark.byindex;

import org.jspecify.annotations.NullMarked;
