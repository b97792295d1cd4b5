package org.apache.spark.sql.connector.read;

/**
 * The enum of Spark 4.2, declared here because the connector is compiled against a Spark that does
 * not have it. It is left out of the jar: on 4.2 the real one is used, before that nothing refers
 * to it.
 */
public enum SampleMethod {
  /** Each record by itself. */
  BERNOULLI,
  /** Whole units of storage. */
  SYSTEM
}
