/**
 * Types of procedures, from Spark 4.0 on, as those of
 * {@link org.apache.spark.sql.connector.catalog}. None of them is in the jar. Immutable. Start with
 * {@link org.apache.spark.sql.connector.catalog.procedures.BoundProcedure}.
 */
@NullUnmarked
package org.apache.spark.sql.connector.catalog.procedures;

import org.jspecify.annotations.NullUnmarked;
