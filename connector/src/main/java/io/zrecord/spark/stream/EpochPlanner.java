package io.zrecord.spark.stream;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.spark.options.StreamWriteOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.spark.write.ZRecordWrite;
import io.zrecord.spark.write.ZRecordWriteBuilder;
import java.util.OptionalLong;
import java.util.function.LongConsumer;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;

/**
 * Plans the epochs of a stream into a table, each on the version that is the newest then. Spark
 * loads the table once, when the stream starts. Lives on the driver.
 */
final class EpochPlanner {
  /** Begins the names of applications, so that none is that of a program of a user. */
  private static final String APPLICATION = "spark-stream-";

  private final String location;
  private final WriteTarget loaded;
  private final ZRecordWriteBuilder rows;
  private final LogicalWriteInfo info;

  EpochPlanner(
      String location, WriteTarget loaded, ZRecordWriteBuilder rows, LogicalWriteInfo info) {
    this.location = location;
    this.loaded = loaded;
    this.rows = rows;
    this.info = info;
  }

  /** Returns the name under which the epochs are transactions: that of the checkpoint. */
  String applicationId() {
    return APPLICATION + info.queryId();
  }

  /** Plans an epoch on the newest version. */
  Epoch plan() {
    return SparkErrors.planned(() -> {
      WriteTarget newest = loaded.ofNewest(location);
      OptionalLong last = newest
          .base()
          .map(base -> base.snapshot().transactions().get(applicationId()))
          .map(OptionalLong::of)
          .orElse(OptionalLong.empty());
      if (last.isEmpty()) {
        newest.base().ifPresent(this::requireNoCheck);
      }
      // An epoch that took effect may be planned again, and others are refused before the commit.
      WriteTarget target = newest
          .base()
          .map(base -> newest.evaluating(base.declarations().enforced()))
          .orElse(newest);
      return new Epoch(
          rows.epoch(target, target.conf(StreamWriteOptions.ofEpochs(info.options()))),
          epoch -> requireFollows(newest, last, epoch));
    });
  }

  /**
   * Requires that an epoch is the first, or that the table has the epochs before.
   *
   * @param last the last epoch that took effect; empty if there is none
   */
  private void requireFollows(WriteTarget newest, OptionalLong last, long epoch) {
    if (last.isEmpty() && epoch > 0) {
      throw new CommitConflictException(
          location,
          "Cannot write epoch " + epoch + " of a stream to " + location + ": the table has none of"
              + " the epochs before. It was dropped since, or the checkpoint is that of a stream"
              + " into another table; start the stream with a new checkpoint");
    }
    if (last.isEmpty() || last.getAsLong() < epoch) {
      newest.base().ifPresent(this::requireNoCheck);
    }
  }

  /** Spark evaluates checks in statements only. */
  private void requireNoCheck(DatasetVersion base) {
    base.declarations().enforced().stream().findFirst().ifPresent(check -> {
      throw Unsupported.operation(
          "a stream into " + location + ", whose constraint '" + check.name() + "' CHECK ("
              + check.sql() + ") is enforced",
          "write by foreachBatch, where Spark 4.1 and later evaluate it, or drop the constraint");
    });
  }

  /**
   * A planned epoch.
   *
   * @param check takes the number of the epoch before the commit, and throws if the epoch must not
   *     be committed
   */
  record Epoch(ZRecordWrite rows, LongConsumer check) {}
}
