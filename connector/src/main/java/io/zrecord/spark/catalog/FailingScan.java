package io.zrecord.spark.catalog;

import io.zrecord.spark.path.SparkErrors;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * A scan that is planned but never read. DESCRIBE EXTENDED plans a scan for its statistics, and
 * must not fail.
 */
record FailingScan(StructType readSchema, RuntimeException problem) implements ScanBuilder, Scan {
  @Override
  public Scan build() {
    return this;
  }

  @Override
  public Batch toBatch() {
    return SparkErrors.planned(() -> {
      throw problem;
    });
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
    return SparkErrors.planned(() -> {
      throw problem;
    });
  }
}
