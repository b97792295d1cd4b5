package io.zrecord.examples;

import org.apache.spark.sql.SparkSession;

/**
 * Reads a dataset as it was before {@link AppendRecords}. Arguments: the path of the dataset, and
 * optionally the version (default 0).
 */
public final class TimeTravel {
  private TimeTravel() {}

  public static void main(String[] args) {
    String version = args.length > 1 ? args[1] : "0";
    SparkSession spark = SparkSession.builder().appName("time travel").getOrCreate();
    long before = spark
        .read()
        .format("zrecord")
        .option("versionAsOf", version)
        .load(args[0])
        .count();
    Check.equal("records of version " + version, 1000L, before);
    Check.equal(
        "records now", 1500L, spark.read().format("zrecord").load(args[0]).count());
    spark.stop();
  }
}
