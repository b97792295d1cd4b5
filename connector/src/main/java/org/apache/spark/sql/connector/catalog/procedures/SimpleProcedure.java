package org.apache.spark.sql.connector.catalog.procedures;

import org.apache.spark.sql.types.StructType;

/**
 * A procedure that is the same for all arguments, from Spark 4.2 on. Declared here for the
 * compiler: the jar does not contain this copy, and before 4.2 nothing refers to it.
 */
public interface SimpleProcedure extends UnboundProcedure, BoundProcedure {
  @Override
  default BoundProcedure bind(StructType arguments) {
    return this;
  }
}
