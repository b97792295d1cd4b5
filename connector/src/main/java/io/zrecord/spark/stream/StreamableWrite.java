package io.zrecord.spark.stream;

import io.zrecord.spark.write.ZRecordWrite;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.jspecify.annotations.Nullable;

/**
 * A write of a statement or of an epoch of a stream. Spark asks for a {@link #toStreaming} first if
 * it is an epoch, and for anything else otherwise, so the first call decides which of them is
 * planned. Belongs to one thread.
 */
final class StreamableWrite implements RequiresDistributionAndOrdering {
  private final Supplier<ZRecordWrite> statement;
  private final EpochPlanner epochs;
  private @Nullable ZRecordWrite planned;

  StreamableWrite(Supplier<ZRecordWrite> statement, EpochPlanner epochs) {
    this.statement = statement;
    this.epochs = epochs;
  }

  private ZRecordWrite planned() {
    if (planned == null) {
      planned = statement.get();
    }
    return planned;
  }

  @Override
  public StreamingWrite toStreaming() {
    EpochPlanner.Epoch epoch = epochs.plan();
    planned = epoch.rows();
    return new EpochWrite(epoch.rows().toBatch(), epochs.applicationId(), epoch.check());
  }

  @Override
  public BatchWrite toBatch() {
    return planned().toBatch();
  }

  @Override
  public String description() {
    return planned().description();
  }

  @Override
  public Distribution requiredDistribution() {
    return planned().requiredDistribution();
  }

  @Override
  public boolean distributionStrictlyRequired() {
    return planned().distributionStrictlyRequired();
  }

  @Override
  public long advisoryPartitionSizeInBytes() {
    return planned().advisoryPartitionSizeInBytes();
  }

  @Override
  public SortOrder[] requiredOrdering() {
    return planned().requiredOrdering();
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return planned().supportedCustomMetrics();
  }
}
