package io.zrecord.benchmarks;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.shard.Durability;
import io.zrecord.spark.Rebalance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;

/**
 * Measures the Spark job that rewrites a table of shards of 8 MiB to larger shards, against reading
 * Parquet files of the same records and writing fewer files; {@code local[2]}. 4 GiB of values of 4
 * KiB, and of values of 64 KiB. Argument: a work directory.
 */
public final class SparkRebalanceBenchmark {
  private static final long FILE_BYTES = 8 << 20;
  private static final int TARGET_FILES = 4;

  private final SparkSession spark;
  private final Path work;

  private SparkRebalanceBenchmark(SparkSession spark, Path work) {
    this.spark = spark;
    this.work = work;
  }

  public static void main(String[] arguments) throws IOException {
    Path work = Path.of(arguments[0]).resolve("spark-rebalance");
    long totalBytes = Math.max(TARGET_FILES * FILE_BYTES, Effort.of(4L << 30));
    SparkSession spark = SparkSession.builder()
        .master("local[2]")
        .appName("zrecord benchmark")
        .config("spark.ui.enabled", false)
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate();
    try {
      for (int width : new int[] {4 << 10, 64 << 10}) {
        Workplace.delete(work);
        Files.createDirectories(work);
        new SparkRebalanceBenchmark(spark, work).measure(width, totalBytes);
      }
    } finally {
      spark.stop();
      Workplace.delete(work);
    }
  }

  private void measure(int width, long totalBytes) {
    spark.udf().register("noise", (Long id) -> Workplace.noise(width, id), DataTypes.BinaryType);
    Dataset<Row> source = spark
        .range(0, totalBytes / width, 1, (int) (totalBytes / FILE_BYTES))
        .selectExpr("id", "noise(id) as bin");
    Path table = work.resolve("table");
    Path parquet = work.resolve("parquet");
    save(source, "zrecord", table, Map.of("durability", "none"));
    save(source, "parquet", parquet, Map.of("compression", "none"));
    Path linked = work.resolve("linked");
    Path rewritten = work.resolve("rewritten");
    Contest contest = new Contest(
        (totalBytes >> 20) + " MiB of " + width / 1024 + " KiB values rewritten by Spark");
    contest.add("zrecord, not forced to disk", () -> link(table, linked), () -> rebalance(linked));
    for (String compression : new String[] {"none", "snappy"}) {
      contest.add(
          "Parquet, " + compression,
          () -> delete(rewritten),
          () -> save(
              spark.read().parquet(parquet.toString()).coalesce(TARGET_FILES),
              "parquet",
              rewritten,
              Map.of("compression", compression)));
    }
    contest.run();
  }

  private void rebalance(Path table) {
    RebalanceOptions options = RebalanceOptions.defaults();
    RebalanceResult result = Rebalance.of(spark, table.toString())
        .options(options.withWrite(options.write().withDurability(Durability.NONE)))
        .run();
    if (!result.failures().isEmpty() || result.groups() == 0) {
      throw new IllegalStateException("Not everything was rewritten: " + result);
    }
  }

  private static void save(
      Dataset<Row> data, String format, Path path, Map<String, String> options) {
    data.write().format(format).options(options).mode("append").save(path.toString());
  }

  private static void delete(Path path) {
    try {
      Workplace.delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a table of hard links to the files of another table. */
  private static void link(Path table, Path to) {
    delete(to);
    Workplace.run("cp", "-al", table.toString(), to.toString());
  }
}
