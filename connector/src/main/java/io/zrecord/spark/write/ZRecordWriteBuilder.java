package io.zrecord.spark.write;

import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.SparkErrors;
import java.util.UUID;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsOverwriteV2;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Collects what a write is to do. */
public final class ZRecordWriteBuilder
    implements WriteBuilder, SupportsOverwriteV2, SupportsDynamicOverwrite {
  private final UUID commitId;
  private final String location;
  private final WriteTarget target;
  private final StructType columns;
  private final CaseInsensitiveStringMap options;
  private Replaced replaced = Replaced.NOTHING;

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
    replaced = Replaced.EVERYTHING;
    return this;
  }

  /** Replaces the records of partitions for which all conditions are true. */
  @Override
  public WriteBuilder overwrite(Predicate[] conditions) {
    replaced = Replaced.where(conditions);
    return this;
  }

  /** Replaces the partitions of the rows; all records of a table without partitions. */
  @Override
  public WriteBuilder overwriteDynamicPartitions() {
    replaced = Replaced.PARTITIONS_WRITTEN;
    return this;
  }

  /**
   * Plans an epoch of a stream.
   *
   * @param newest the target as it is now
   */
  public ZRecordWrite epoch(WriteTarget newest, WriteConf conf) {
    return new ZRecordWrite(
        columns,
        TableCommit.ofEpoch(commitId, location, newest, columns, conf.ofEpochs(), replaced));
  }

  @Override
  public ZRecordWrite build() {
    return SparkErrors.planned(() -> new ZRecordWrite(
        columns,
        new TableCommit(commitId, location, target, columns, target.conf(options), replaced)));
  }
}
