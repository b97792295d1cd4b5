package io.zrecord.spark.job;

import org.apache.spark.sql.SparkSession;

/**
 * The number of jobs of one task that run at once.
 *
 * @param count 1 to 1,000
 */
public record JobConcurrency(int count) {
  private static final int MAX_COUNT = 1000;

  public JobConcurrency {
    if (count < 1 || count > MAX_COUNT) {
      throw new IllegalArgumentException(
          "concurrency is " + count + "; it must be 1 to " + MAX_COUNT);
    }
  }

  /** Returns Spark's default parallelism, but at most 1,000. */
  public static JobConcurrency of(SparkSession spark) {
    return new JobConcurrency(
        Math.max(1, Math.min(MAX_COUNT, spark.sparkContext().defaultParallelism())));
  }
}
