/**
 * {@code DELETE}, {@code UPDATE} and {@code MERGE}: what the tasks of a statement change in single
 * records, and the one commit of all of them. Values of columns that a statement does not assign
 * are neither read nor written. A writer belongs to one task. Throws exceptions of the engine,
 * which callers turn into Spark's. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.rows.RowOperation}.
 */
@NullMarked
package io.zrecord.spark.rows;

import org.jspecify.annotations.NullMarked;
