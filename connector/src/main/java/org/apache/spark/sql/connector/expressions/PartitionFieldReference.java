package org.apache.spark.sql.connector.expressions;

/**
 * The interface of Spark 4.2, declared here because the connector is compiled against a Spark that
 * does not have it. The jar does not contain this copy: Spark 4.2 uses its own interface, and
 * before 4.2 nothing refers to it.
 */
public interface PartitionFieldReference extends NamedReference {
  /** Returns the place of the column among those by which the loaded table is partitioned. */
  int ordinal();
}
