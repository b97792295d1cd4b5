package io.zrecord.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Writes data with zrecord, Parquet, ORC and Avro to one directory, and scans what was written. */
final class SparkFormats {
  static final String PARQUET_UNCOMPRESSED = "parquet-none";

  private static final String BATCH_SIZE = "spark.sql.parquet.columnarReaderBatchSize";
  private static final int DEFAULT_BATCH_SIZE = 4096;
  private static final int[] BATCH_SIZES = {16, 128, 1024, DEFAULT_BATCH_SIZE};
  private static final Map<String, String> NOT_FORCED = Map.of("durability", "none");

  private final SparkSession spark;
  private final Path directory;

  SparkFormats(SparkSession spark, Path directory) {
    this.spark = spark;
    this.directory = directory;
  }

  /**
   * Seconds of the contestants of a write, and the size of zrecord's files.
   *
   * @param sizeOverRaw bytes of the files over the bytes of the values
   */
  record Written(Map<String, Double> seconds, double sizeOverRaw) {}

  SparkSession spark() {
    return spark;
  }

  Path path(String name) {
    return directory.resolve(name);
  }

  Dataset<Row> load(String name) {
    return spark.read().format("zrecord").load(path(name).toString());
  }

  /** Stores made data, so that a contest reads the data instead of making them. */
  Dataset<Row> store(Dataset<Row> made) {
    save(made, "zrecord", "origin", NOT_FORCED);
    return load("origin");
  }

  void save(Dataset<Row> data, String format, String name, Map<String, String> options) {
    data.write().format(format).options(options).mode("append").save(path(name).toString());
  }

  /** Writes with zrecord, Parquet, ORC and Avro in turns. Leaves a table of each to scan. */
  Written writes(String title, Dataset<Row> data, long rawBytes) {
    Contest write = new Contest("write of " + title);
    write.add(
        "noop (source)", () -> data.write().format("noop").mode("overwrite").save());
    addWrite(write, "zrecord", data, "zrecord", "zrecord", NOT_FORCED);
    addWrite(
        write,
        "zrecord, no checksums",
        data,
        "zrecord",
        "again",
        Map.of("durability", "none", "checksum", "none"));
    addWrite(write, "zrecord, forced to disk", data, "zrecord", "again", Map.of());
    addWrite(write, "parquet", data, "parquet", "parquet", Map.of());
    addWrite(
        write,
        "parquet, uncompressed",
        data,
        "parquet",
        PARQUET_UNCOMPRESSED,
        Map.of("compression", "none"));
    addWrite(write, "orc", data, "orc", "orc", Map.of());
    addWrite(write, "avro", data, "avro", "avro", Map.of());
    Map<String, Double> seconds = write.run();
    double sizeOverRaw = (double) bytesOf("zrecord") / rawBytes;
    System.out.printf(
        Locale.ROOT,
        "Size on disk over raw bytes: zrecord %.4f, parquet %.4f, parquet uncompressed %.4f%n",
        sizeOverRaw,
        (double) bytesOf("parquet") / rawBytes,
        (double) bytesOf(PARQUET_UNCOMPRESSED) / rawBytes);
    delete("again");
    delete("origin");
    return new Written(seconds, sizeOverRaw);
  }

  private void addWrite(
      Contest contest,
      String name,
      Dataset<Row> data,
      String format,
      String table,
      Map<String, String> options) {
    contest.add(name, () -> delete(table), () -> save(data, format, table, options));
  }

  /** Scans what {@link #writes} wrote. Returns the seconds of the contestants. */
  Map<String, Double> scans(String title, String... query) {
    Contest scan = new Contest(title);
    addZRecord(scan, query);
    addParquet(scan, query);
    scan.add(
        "orc", () -> spark.read().orc(path("orc").toString()).selectExpr(query).first());
    scan.add(
        "avro",
        () -> spark
            .read()
            .format("avro")
            .load(path("avro").toString())
            .selectExpr(query)
            .first());
    return scan.run();
  }

  /** Adds scans of the table {@code zrecord}, for each way to verify. */
  void addZRecord(Contest scan, String... query) {
    for (String verify : List.of("first", "always", "never")) {
      scan.add(
          "zrecord, verify=" + verify,
          () -> spark
              .read()
              .format("zrecord")
              .option("verify", verify)
              .load(path("zrecord").toString())
              .selectExpr(query)
              .first());
    }
  }

  /** Adds scans of the tables {@code parquet} and {@code parquet-none}. */
  void addParquet(Contest scan, String... query) {
    scan.add("parquet", () -> scanParquet("parquet", DEFAULT_BATCH_SIZE, query));
    for (int size : BATCH_SIZES) {
      scan.add(
          "parquet, uncompressed, batches of " + size,
          () -> scanParquet(PARQUET_UNCOMPRESSED, size, query));
    }
  }

  private void scanParquet(String name, int batchSize, String... query) {
    spark.conf().set(BATCH_SIZE, batchSize);
    spark.read().parquet(path(name).toString()).selectExpr(query).first();
  }

  long bytesOf(String name) {
    try {
      return Workplace.lengthOf(path(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void delete(String name) {
    try {
      Workplace.delete(path(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes all tables. */
  void delete() {
    delete("");
  }
}
