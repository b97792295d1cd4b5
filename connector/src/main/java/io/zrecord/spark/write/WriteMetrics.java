package io.zrecord.spark.write;

import io.zrecord.spark.scan.TaskMetric;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** The metrics of a write in Spark's UI. */
final class WriteMetrics {
  private WriteMetrics() {}

  static CustomMetric[] supported() {
    return new CustomMetric[] {new RecordsWritten(), new BytesWritten()};
  }

  static CustomTaskMetric[] values(long records, long bytes) {
    return new CustomTaskMetric[] {
      new TaskMetric(RecordsWritten.NAME, records), new TaskMetric(BytesWritten.NAME, bytes)
    };
  }

  /**
   * Records written. Spark creates metrics by reflection: public, with a constructor without
   * parameters.
   */
  public static final class RecordsWritten extends CustomSumMetric {
    static final String NAME = "recordsWritten";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord records written";
    }
  }

  /** Bytes of chunk files. */
  public static final class BytesWritten extends CustomSumMetric {
    static final String NAME = "bytesWritten";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord bytes written to chunks";
    }
  }
}
