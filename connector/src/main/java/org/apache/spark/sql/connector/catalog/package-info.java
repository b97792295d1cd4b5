/**
 * Types of later Sparks than the one that the connector is compiled against, as those of
 * {@link org.apache.spark.sql.connector.read}. None of them is in the jar. Immutable. Start with
 * {@link org.apache.spark.sql.connector.catalog.TableInfo}. The other types of the package are
 * Spark's, which say nothing of null.
 */
@NullUnmarked
package org.apache.spark.sql.connector.catalog;

import org.jspecify.annotations.NullUnmarked;
