/**
 * Types of a later Spark than the one that the connector is compiled against. They are in Spark's
 * package because methods that Spark calls have them in their signatures, by their full names. None
 * of them is in the jar: each release of Spark brings the types that it uses. Immutable. Start with
 * {@link org.apache.spark.sql.connector.read.SampleMethod}.
 */
@NullMarked
package org.apache.spark.sql.connector.read;

import org.jspecify.annotations.NullMarked;
