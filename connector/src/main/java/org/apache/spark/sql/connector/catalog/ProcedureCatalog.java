package org.apache.spark.sql.connector.catalog;

import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure;

/**
 * A catalog with procedures, from Spark 4.0 on. Declared here for the compiler: the jar does not
 * contain this copy, and before 4.0 nothing refers to it.
 */
public interface ProcedureCatalog extends CatalogPlugin {
  UnboundProcedure loadProcedure(Identifier identifier);

  /** New in 4.1. */
  Identifier[] listProcedures(String[] namespace);
}
