package io.zrecord.spark.write;

import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.SparkErrors;
import java.util.UUID;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Collects what a write is to do. */
public final class ZRecordWriteBuilder
    implements WriteBuilder, SupportsTruncate, SupportsDynamicOverwrite {
  private final UUID commitId;
  private final String location;
  private final WriteTarget target;
  private final StructType columns;
  private final CaseInsensitiveStringMap options;
  private boolean truncates;

  public ZRecordWriteBuilder(String location, WriteTarget target, LogicalWriteInfo info) {
    this(UUID.randomUUID(), location, target, info.schema(), info.options());
  }

  /** Collects what the write of a known commit is to do. */
  public ZRecordWriteBuilder(
      UUID commitId,
      String location,
      WriteTarget target,
      StructType columns,
      CaseInsensitiveStringMap options) {
    this.commitId = commitId;
    this.location = location;
    this.target = target;
    this.columns = columns;
    this.options = options;
  }

  @Override
  public WriteBuilder truncate() {
    truncates = true;
    return this;
  }

  /** Replaces all records. A dataset has no partitions, so nothing else is meant. */
  @Override
  public WriteBuilder overwriteDynamicPartitions() {
    return truncate();
  }

  @Override
  public Write build() {
    return SparkErrors.planned(() -> new ZRecordWrite(
        columns,
        new TableCommit(commitId, location, target, columns, new WriteConf(options), truncates)));
  }
}
