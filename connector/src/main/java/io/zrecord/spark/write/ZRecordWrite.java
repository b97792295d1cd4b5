package io.zrecord.spark.write;

import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import java.util.Arrays;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.Distributions;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;
import org.apache.spark.sql.types.StructType;

/**
 * A planned write. Asks Spark to bring the rows of a partition to one task, unless the table or the
 * write says otherwise: every task writes a shard for each partition that it meets.
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
    NamedReference[] clustering = clustering();
    return clustering.length == 0
        ? Distributions.unspecified()
        : Distributions.clustered(clustering);
  }

  /** Returns false: Spark may divide a partition that is large, and join small ones. */
  @Override
  public boolean distributionStrictlyRequired() {
    return false;
  }

  /** Asks for tasks that fill a chunk. */
  @Override
  public long advisoryPartitionSizeInBytes() {
    return clustering().length == 0 ? 0 : commit.writeOptions().chunkBytes();
  }

  /** Asks for one partition after the other, so that a task has one shard open at a time. */
  @Override
  public SortOrder[] requiredOrdering() {
    return Arrays.stream(clustering())
        .map(column -> Expressions.sort(column, SortDirection.ASCENDING))
        .toArray(SortOrder[]::new);
  }

  private NamedReference[] clustering() {
    return commit.clusteringColumns(columns).stream()
        .map(name -> Expressions.column(PartitionColumns.quoted(name)))
        .toArray(NamedReference[]::new);
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
