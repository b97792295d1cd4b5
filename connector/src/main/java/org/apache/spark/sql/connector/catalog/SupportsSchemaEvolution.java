package org.apache.spark.sql.connector.catalog;

/**
 * A table that Spark asks which changes of columns it takes, from Spark 4.2 on. Declared here for
 * the compiler: the jar does not contain this copy, and before 4.2 nothing refers to it.
 */
public interface SupportsSchemaEvolution extends Table {
  boolean supportsColumnChange(TableChange.ColumnChange change);
}
