package org.apache.spark.sql.connector.catalog.procedures;

/**
 * A procedure, from Spark 4.0 on. Declared here for the compiler: the jar does not contain this
 * copy, and before 4.0 nothing refers to it.
 */
public interface Procedure {
  String name();

  String description();
}
