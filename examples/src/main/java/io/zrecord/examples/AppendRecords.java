package io.zrecord.examples;

import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * Appends 500 records as one new version. Argument: the path of a dataset that {@link WriteDataset}
 * wrote.
 */
public final class AppendRecords {
  private AppendRecords() {}

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("append").getOrCreate();
    WriteDataset.records(spark, 1000, 1500)
        .write()
        .format("zrecord")
        .option("txnAppId", "nightly-import") // a job that is run again
        .option("txnVersion", 1) // … appends nothing the second time
        .mode(SaveMode.Append)
        .save(args[0]);
    Check.equal("records", 1500L, spark.read().format("zrecord").load(args[0]).count());

    WriteDataset.records(spark, 1000, 1500)
        .write()
        .format("zrecord")
        .option("txnAppId", "nightly-import")
        .option("txnVersion", 1)
        .mode(SaveMode.Append)
        .save(args[0]);
    Check.equal(
        "records after the same append",
        1500L,
        spark.read().format("zrecord").load(args[0]).count());
    spark.stop();
  }
}
