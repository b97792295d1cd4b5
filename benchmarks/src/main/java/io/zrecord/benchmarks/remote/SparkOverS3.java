package io.zrecord.benchmarks.remote;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** A session of Spark whose S3A asks the server, and its tables there. */
final class SparkOverS3 implements AutoCloseable {
  private final SparkSession spark;

  SparkOverS3(RemoteSite site) {
    spark = SparkSession.builder()
        .master("local[" + tasks() + "]")
        .appName("zrecord remote benchmark")
        .config("spark.ui.enabled", false)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.hadoop.fs.s3a.endpoint", site.endpoint().toString())
        .config("spark.hadoop.fs.s3a.endpoint.region", RemoteSite.REGION)
        .config("spark.hadoop.fs.s3a.path.style.access", "true")
        .config("spark.hadoop.fs.s3a.connection.ssl.enabled", "false")
        .config("spark.hadoop.fs.s3a.access.key", site.accessKey())
        .config("spark.hadoop.fs.s3a.secret.key", site.secretKey())
        .getOrCreate();
  }

  /** Returns the number of tasks that run together. */
  static int tasks() {
    return Math.max(2, Runtime.getRuntime().availableProcessors());
  }

  Dataset<Row> load(String format, String table) {
    return spark.read().format(format).load(RemoteSite.table("s3a", table));
  }

  Dataset<Row> loadLocal(String directory) {
    return spark.read().format("zrecord").load("file:" + directory);
  }

  void save(Dataset<Row> data, String format, String table) {
    var writer = data.write().mode("append").format(format);
    if (format.equals("parquet")) {
      writer.option("compression", "none");
    }
    writer.save(RemoteSite.table("s3a", table));
  }

  @Override
  public void close() {
    spark.stop();
  }
}
