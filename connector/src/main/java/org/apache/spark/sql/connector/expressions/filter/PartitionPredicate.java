package org.apache.spark.sql.connector.expressions.filter;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.expressions.Expression;

/**
 * The class of Spark 4.2, declared here because the connector is compiled against a Spark that does
 * not have it. The jar does not contain this copy: Spark 4.2 uses its own class, and before 4.2
 * there is no condition of this name.
 */
public abstract class PartitionPredicate extends Predicate {
  protected PartitionPredicate() {
    super("PARTITION_PREDICATE", new Expression[0]);
  }

  /** Tells whether the values of a partition fulfil the condition, or cannot be decided. */
  public abstract boolean eval(InternalRow partitionKey);
}
