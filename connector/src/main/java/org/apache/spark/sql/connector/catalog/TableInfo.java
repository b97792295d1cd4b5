package org.apache.spark.sql.connector.catalog;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.expressions.Transform;

/**
 * What a statement says of a new table, from Spark 4.1 on. Declared here for the compiler: the jar
 * does not contain this copy, and before 4.1 nothing refers to it.
 */
public abstract class TableInfo {
  private TableInfo() {}

  public abstract Column[] columns();

  public abstract Map<String, String> properties();

  public abstract Transform[] partitions();

  public abstract Constraint[] constraints();
}
