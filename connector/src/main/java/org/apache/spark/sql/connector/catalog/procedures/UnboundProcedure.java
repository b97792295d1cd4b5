package org.apache.spark.sql.connector.catalog.procedures;

import org.apache.spark.sql.types.StructType;

/**
 * A procedure before its arguments are known, from Spark 4.0 on. Declared here for the compiler:
 * the jar does not contain this copy, and before 4.0 nothing refers to it.
 */
public interface UnboundProcedure extends Procedure {
  BoundProcedure bind(StructType arguments);
}
