package io.zrecord.spark.stream;

import io.zrecord.spark.options.StreamWriteOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.spark.write.ZRecordWrite;
import io.zrecord.spark.write.ZRecordWriteBuilder;
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
  ZRecordWrite plan() {
    return SparkErrors.planned(() -> {
      WriteTarget newest = loaded.ofNewest(location);
      newest.base().ifPresent(this::requireNoCheck);
      return rows.epoch(newest, StreamWriteOptions.parse(info.options()));
    });
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
}
