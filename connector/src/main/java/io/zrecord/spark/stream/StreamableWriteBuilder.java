package io.zrecord.spark.stream;

import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.spark.write.ZRecordWriteBuilder;
import java.util.Optional;
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
  private final Optional<RuntimeException> problem;

  private StreamableWriteBuilder(
      ZRecordWriteBuilder rows, EpochPlanner epochs, Optional<RuntimeException> problem) {
    this.rows = rows;
    this.epochs = epochs;
    this.problem = problem;
  }

  /** Begins a write for a statement or for an epoch of a stream. */
  public static StreamableWriteBuilder of(
      String location, WriteTarget target, LogicalWriteInfo info) {
    return of(location, target, info, Optional.empty());
  }

  /**
   * Begins a write for an epoch of a stream. Every other write fails.
   *
   * @param problem what is wrong with other writes
   */
  public static StreamableWriteBuilder ofStreams(
      String location, WriteTarget target, LogicalWriteInfo info, RuntimeException problem) {
    return of(location, target, info, Optional.of(problem));
  }

  private static StreamableWriteBuilder of(
      String location,
      WriteTarget target,
      LogicalWriteInfo info,
      Optional<RuntimeException> problem) {
    ZRecordWriteBuilder rows = new ZRecordWriteBuilder(location, target, info);
    return new StreamableWriteBuilder(
        rows, new EpochPlanner(location, target, rows, info), problem);
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
    return new StreamableWrite(
        () -> SparkErrors.planned(() -> {
          problem.ifPresent(reason -> {
            throw reason;
          });
          return rows.build();
        }),
        epochs);
  }
}
