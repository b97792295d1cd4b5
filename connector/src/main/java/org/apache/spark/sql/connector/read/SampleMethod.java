package org.apache.spark.sql.connector.read;

/**
 * The enum of Spark 4.2, declared here because the connector is compiled against a Spark that does
 * not have it. The jar does not contain this copy: Spark 4.2 uses its own enum, and before 4.2
 * nothing refers to it.
 */
public enum SampleMethod {
  /** Draws each record by itself. */
  BERNOULLI,
  /** Draws whole units of storage. */
  SYSTEM
}
