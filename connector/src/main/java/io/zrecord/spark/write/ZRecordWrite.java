package io.zrecord.spark.write;

import io.zrecord.spark.options.ZRecordOptions;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.UnspecifiedDistribution;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;
import org.apache.spark.sql.types.StructType;

/**
 * A planned write. Asks Spark to bring the rows of a partition to one task, and to sort rows if the
 * table or the write has an order: every task writes a shard for each partition that it meets.
 */
public final class ZRecordWrite implements RequiresDistributionAndOrdering {
  private final StructType columns;
  private final TableCommit commit;

  ZRecordWrite(StructType columns, TableCommit commit) {
    this.columns = columns;
    this.commit = commit;
  }

  @Override
  public String description() {
    return ZRecordOptions.FORMAT + " " + commit.location();
  }

  @Override
  public Distribution requiredDistribution() {
    return commit.order().required();
  }

  /**
   * Returns false unless rows are sorted across tasks: Spark may divide a partition that is large,
   * and join small ones.
   */
  @Override
  public boolean distributionStrictlyRequired() {
    return commit.order().isStrict();
  }

  /** Asks for tasks that fill a chunk, or a shard if its size is given. */
  @Override
  public long advisoryPartitionSizeInBytes() {
    return requiredDistribution() instanceof UnspecifiedDistribution ? 0 : commit.advisoryBytes();
  }

  /** Asks for one partition after the other, so that a task has one shard open at a time. */
  @Override
  public SortOrder[] requiredOrdering() {
    return commit.order().ordering();
  }

  @Override
  public ZRecordBatchWrite toBatch() {
    return new ZRecordBatchWrite(columns, commit);
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return WriteMetrics.supported();
  }
}
