package io.zrecord.spark;

import org.apache.spark.sql.SparkSession;

/**
 * How many jobs of one task run at once.
 *
 * @param count 1 to 1,000
 */
record JobConcurrency(int count) {
  private static final int MAX_COUNT = 1000;

  JobConcurrency {
    if (count < 1 || count > MAX_COUNT) {
      throw new IllegalArgumentException(
          "concurrency is " + count + "; it must be 1 to " + MAX_COUNT);
    }
  }

  /** As Spark's default parallelism has it. */
  static JobConcurrency of(SparkSession spark) {
    return new JobConcurrency(
        Math.max(1, Math.min(MAX_COUNT, spark.sparkContext().defaultParallelism())));
  }
}
