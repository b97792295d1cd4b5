package io.zrecord.spark.write;

import io.zrecord.spark.options.ZRecordOptions;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.types.StructType;

/** A planned write. */
final class ZRecordWrite implements Write {
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
  public BatchWrite toBatch() {
    return new ZRecordBatchWrite(columns, commit);
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return WriteMetrics.supported();
  }
}
