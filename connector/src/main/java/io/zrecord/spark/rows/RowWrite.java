package io.zrecord.spark.rows;

import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.partition.PartitionColumns;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.Distributions;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.DeltaBatchWrite;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;

/**
 * A planned change of records. Rows of one shard come to one task, in the order of their indices,
 * so that a task has one shard open at a time. A shard with very many rows may be split: Spark need
 * not keep rows of one shard together, and the commit joins what tasks have written for one shard.
 */
final class RowWrite implements DeltaWrite, RequiresDistributionAndOrdering {
  private final RowCommit commit;
  private final boolean isByShards;
  private final StatementReport report;

  /** @param isByShards whether the rows of each shard are in one task already */
  RowWrite(RowCommit commit, boolean isByShards, StatementReport report) {
    this.commit = commit;
    this.isByShards = isByShards;
    this.report = report.sortedAs(commit.hasUnsortedInserts());
  }

  @Override
  public String description() {
    return report.shown();
  }

  /** Returns what a plan shows of the write. */
  @Override
  public String toString() {
    return description();
  }

  @Override
  public Distribution requiredDistribution() {
    return isByShards
        ? Distributions.unspecified()
        : Distributions.clustered(new Expression[] {Expressions.column(MetadataColumns.SHARD)});
  }

  /** Lets Spark give a task as many rows as make a chunk, if there are rows of new records. */
  @Override
  public long advisoryPartitionSizeInBytes() {
    return isByShards ? 0 : commit.advisoryBytes();
  }

  @Override
  public boolean distributionStrictlyRequired() {
    return false;
  }

  /** New records have no index, so that those of one partition follow each other. */
  @Override
  public SortOrder[] requiredOrdering() {
    return Stream.concat(
            Stream.of(MetadataColumns.INDEX),
            commit.partitionColumns().stream().map(PartitionColumns::quoted))
        .map(column -> Expressions.sort(Expressions.column(column), SortDirection.ASCENDING))
        .toArray(SortOrder[]::new);
  }

  @Override
  public DeltaBatchWrite toBatch() {
    return new RowBatchWrite(commit, report);
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return RowMetrics.supported();
  }
}
