/**
 * Types of a later Spark than the one that the connector is compiled against, as in
 * {@link org.apache.spark.sql.connector.read}. None of them is in the jar. Immutable. Start with
 * {@link org.apache.spark.sql.connector.expressions.PartitionFieldReference}.
 */
@NullMarked
package org.apache.spark.sql.connector.expressions;

import org.jspecify.annotations.NullMarked;
