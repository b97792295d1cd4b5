/**
 * Constraints of Spark 4.1 and later, as the compiler must know them. None of these types is in the
 * jar. Methods of builders return {@code Object} where Spark's bytecode says so. Immutable. Start
 * with {@link org.apache.spark.sql.connector.catalog.constraints.Constraint}.
 */
@NullMarked
package org.apache.spark.sql.connector.catalog.constraints;

import org.jspecify.annotations.NullMarked;
