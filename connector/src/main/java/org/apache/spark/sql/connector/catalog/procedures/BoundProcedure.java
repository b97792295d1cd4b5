package org.apache.spark.sql.connector.catalog.procedures;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.Scan;

/**
 * A procedure that can be called, from Spark 4.0 on. Declared here for the compiler: the jar does
 * not contain this copy, and before 4.0 nothing refers to it.
 */
public interface BoundProcedure extends Procedure {
  ProcedureParameter[] parameters();

  boolean isDeterministic();

  Iterator<Scan> call(InternalRow arguments);
}
