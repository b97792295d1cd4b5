package io.zrecord.spark.stream;

import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.spark.write.ZRecordWriteBuilder;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsOverwriteV2;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;

/**
 * Collects what a write is to do, for a statement or for an epoch of a stream. Spark says which
 * only when the write is built, see {@link StreamableWrite}.
 */
public final class StreamableWriteBuilder
    implements WriteBuilder, SupportsOverwriteV2, SupportsDynamicOverwrite {
  private final ZRecordWriteBuilder rows;
  private final EpochPlanner epochs;

  private StreamableWriteBuilder(ZRecordWriteBuilder rows, EpochPlanner epochs) {
    this.rows = rows;
    this.epochs = epochs;
  }

  /** Begins a write for a statement or for an epoch of a stream. */
  public static StreamableWriteBuilder of(
      String location, WriteTarget target, LogicalWriteInfo info) {
    ZRecordWriteBuilder rows = new ZRecordWriteBuilder(location, target, info);
    return new StreamableWriteBuilder(rows, new EpochPlanner(location, target, rows, info));
  }

  @Override
  public WriteBuilder truncate() {
    rows.truncate();
    return this;
  }

  @Override
  public WriteBuilder overwrite(Predicate[] conditions) {
    rows.overwrite(conditions);
    return this;
  }

  @Override
  public WriteBuilder overwriteDynamicPartitions() {
    rows.overwriteDynamicPartitions();
    return this;
  }

  @Override
  public Write build() {
    return new StreamableWrite(() -> SparkErrors.planned(rows::build), epochs);
  }
}
