package io.zrecord.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * Measures zrecord against Parquet, ORC and Avro in one warm JVM, {@code local[2]}. Every
 * contestant of a case runs in turn, twice to warm up and then five times; medians count.
 * Arguments: a work directory, then sizes in percent of the full sizes (default 100) and the cases
 * to run (default all).
 */
public final class SparkBenchmark {
  private static final String BATCH_SIZE = "spark.sql.parquet.columnarReaderBatchSize";
  private static final int DEFAULT_BATCH_SIZE = 4096;
  private static final int[] BATCH_SIZES = {16, 128, 1024, DEFAULT_BATCH_SIZE};

  private static final List<String> CASES =
      List.of("binary64k", "binary4k", "binary784", "scalars", "one-of-ten", "random");

  private final SparkSession spark;
  private final Path work;
  private final int percent;

  private SparkBenchmark(SparkSession spark, Path work, int percent) {
    this.spark = spark;
    this.work = work;
    this.percent = percent;
  }

  public static void main(String[] args) throws IOException {
    Path work = Files.createDirectories(Path.of(args.length > 0 ? args[0] : "target/benchmark"));
    int percent = args.length > 1 ? Integer.parseInt(args[1]) : 100;
    List<String> cases = args.length > 2 ? Arrays.asList(args).subList(2, args.length) : CASES;
    SparkSession spark = SparkSession.builder()
        .master("local[2]")
        .appName("zrecord benchmark")
        .config("spark.ui.enabled", false)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", false)
        .getOrCreate();
    SparkBenchmark benchmark = new SparkBenchmark(spark, work, percent);
    try {
      for (String name : cases) {
        benchmark.run(name);
      }
    } finally {
      spark.stop();
    }
  }

  private void run(String name) {
    switch (name) {
      case "binary64k" -> binaries("64 KiB binaries", 64 << 10, 2L << 30);
      case "binary4k" -> binaries("4 KiB binaries", 4 << 10, 2L << 30);
      case "binary784" -> binaries("784 B binaries", 784, 1L << 30);
      case "scalars" -> scalars();
      case "one-of-ten" -> oneOfTen();
      case "random" -> random();
      default ->
        throw new IllegalArgumentException("Unknown case " + name + "; the cases are " + CASES);
    }
  }

  private void binaries(String title, int bytes, long totalBytes) {
    long count = totalBytes / 100 * percent / bytes;
    spark.udf().register("noise", (Long id) -> noise(id, bytes), DataTypes.BinaryType);
    Dataset<Row> source = spark.range(0, count, 1, 8).selectExpr("id", "noise(id) as bin");
    Path origin = work.resolve("origin");
    save(source, "zrecord", origin, Map.of("durability", "none"));
    writes(title, spark.read().format("zrecord").load(origin.toString()), count * (8L + bytes));
    Contest scan = new Contest("scan of " + title + ": sum(length)");
    scans(scan, "sum(length(bin))");
    scan.run();
    delete(work);
  }

  private void scalars() {
    long count = 100_000_000L / 100 * percent;
    Dataset<Row> source = spark
        .range(0, count, 1, 8)
        .selectExpr("cast(xxhash64(id) as int) i", "cast(xxhash64(id, 7) as float) f");
    Path origin = work.resolve("origin");
    save(source, "zrecord", origin, Map.of("durability", "none"));
    writes("two scalars", spark.read().format("zrecord").load(origin.toString()), count * 8);
    for (String query : List.of("sum(f)", "sum(i)", "sum(i), sum(f)")) {
      Contest scan = new Contest(count / 1_000_000 + " M records: " + query);
      scans(scan, query.split(", (?=sum)"));
      scan.run();
    }
    delete(work);
  }

  private void oneOfTen() {
    long count = 1_000_000L / 100 * percent;
    spark.udf().register("noise", (Long id) -> noise(id, 256), DataTypes.BinaryType);
    String[] columns = new String[10];
    columns[0] = "cast(xxhash64(id) as int) i";
    for (int wide = 1; wide < columns.length; wide++) {
      columns[wide] = "noise(id * 10 + " + wide + ") as wide" + wide;
    }
    Path origin = work.resolve("origin");
    save(
        spark.range(0, count, 1, 8).selectExpr(columns),
        "zrecord",
        origin,
        Map.of("durability", "none"));
    writes(
        "an int beside nine 256-byte binaries",
        spark.read().format("zrecord").load(origin.toString()),
        count * (4 + 9 * 256L));
    Contest scan = new Contest(count + " records: sum(i) beside nine 256-byte binaries");
    scans(scan, "sum(i)");
    scan.run();
    Dataset<Row> sum = spark
        .read()
        .format("zrecord")
        .load(work.resolve("zrecord").toString())
        .selectExpr("sum(i)");
    System.out.printf(
        Locale.ROOT,
        "Bytes that the scan of i touched over its values' bytes: %.4f%n",
        (double) bytesRead(sum) / (count * 4));
    delete(work);
  }

  /** Returns the scan's own count of the bytes that it read from files: values, checksums, runs. */
  private long bytesRead(Dataset<Row> query) {
    spark.conf().set("spark.sql.adaptive.enabled", false);
    try {
      query.collectAsList();
      SparkPlan scan = query.queryExecution().executedPlan().collectLeaves().head();
      return scan.metrics().apply("bytesRead").value();
    } finally {
      spark.conf().unset("spark.sql.adaptive.enabled");
    }
  }

  private void random() {
    long count = 10_000_000L / 100 * percent;
    spark.udf().register("noise", (Long id) -> noise(id, 1024), DataTypes.BinaryType);
    Dataset<Row> source = spark.range(0, count, 1, 8).selectExpr("id", "noise(id) as bin");
    save(source, "zrecord", work.resolve("zrecord"), Map.of("durability", "none"));
    save(
        spark.read().format("zrecord").load(work.resolve("zrecord").toString()),
        "parquet",
        work.resolve("parquet"),
        Map.of());
    Random generator = new Random(7);
    Object[] wanted = generator.longs(10_000, 0, count).boxed().distinct().toArray();
    String list = Arrays.stream(wanted).map(Object::toString).collect(Collectors.joining(","));
    Map<String, Supplier<Dataset<Row>>> ways = new LinkedHashMap<>();
    ways.put(
        "zrecord, option indices",
        () -> spark
            .read()
            .format("zrecord")
            .option("indices", list)
            .load(work.resolve("zrecord").toString()));
    ways.put(
        "zrecord, where _index in",
        () -> spark
            .read()
            .format("zrecord")
            .load(work.resolve("zrecord").toString())
            .where(functions.col("_index").isin(wanted)));
    ways.put(
        "parquet, where id in",
        () -> spark
            .read()
            .parquet(work.resolve("parquet").toString())
            .where(functions.col("id").isin(wanted)));
    String question = "10,000 random records of " + count + " x 1 KiB";
    Contest fetch = new Contest(question);
    ways.forEach((name, records) -> fetch.add(
        name,
        () ->
            records.get().select("bin").write().format("noop").mode("overwrite").save()));
    fetch.run();
    Contest hash = new Contest(question + ": bit_xor(xxhash64)");
    ways.forEach((name, records) ->
        hash.add(name, () -> records.get().selectExpr("bit_xor(xxhash64(bin))").first()));
    hash.run();
    delete(work);
  }

  private void writes(String title, Dataset<Row> data, long rawBytes) {
    Contest write = new Contest("write of " + title);
    write.add(
        "noop (source)", () -> data.write().format("noop").mode("overwrite").save());
    addWrite(write, "zrecord", data, "zrecord", "zrecord", Map.of("durability", "none"));
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
        "parquet-none",
        Map.of("compression", "none"));
    addWrite(write, "orc", data, "orc", "orc", Map.of());
    addWrite(write, "avro", data, "avro", "avro", Map.of());
    write.run();
    System.out.printf(
        Locale.ROOT,
        "Size on disk over raw bytes: zrecord %.4f, parquet %.4f, parquet uncompressed %.4f%n",
        (double) bytesOf(work.resolve("zrecord")) / rawBytes,
        (double) bytesOf(work.resolve("parquet")) / rawBytes,
        (double) bytesOf(work.resolve("parquet-none")) / rawBytes);
    for (String path : List.of("again", "origin")) {
      delete(work.resolve(path));
    }
  }

  private void addWrite(
      Contest contest,
      String name,
      Dataset<Row> data,
      String format,
      String path,
      Map<String, String> options) {
    contest.add(
        name,
        () -> delete(work.resolve(path)),
        () -> save(data, format, work.resolve(path), options));
  }

  private void scans(Contest scan, String... query) {
    for (String verify : List.of("first", "always", "never")) {
      scan.add(
          "zrecord, verify=" + verify,
          () -> spark
              .read()
              .format("zrecord")
              .option("verify", verify)
              .load(work.resolve("zrecord").toString())
              .selectExpr(query)
              .first());
    }
    scan.add("parquet", () -> scanParquet("parquet", DEFAULT_BATCH_SIZE, query));
    for (int size : BATCH_SIZES) {
      scan.add(
          "parquet, uncompressed, batches of " + size,
          () -> scanParquet("parquet-none", size, query));
    }
    scan.add(
        "orc",
        () -> spark.read().orc(work.resolve("orc").toString()).selectExpr(query).first());
    scan.add(
        "avro",
        () -> spark
            .read()
            .format("avro")
            .load(work.resolve("avro").toString())
            .selectExpr(query)
            .first());
  }

  private void scanParquet(String directory, int batchSize, String... query) {
    spark.conf().set(BATCH_SIZE, batchSize);
    spark.read().parquet(work.resolve(directory).toString()).selectExpr(query).first();
  }

  /** Returns bytes that do not compress, always the same for the same id. */
  private static byte[] noise(long id, int bytes) {
    byte[] noise = new byte[bytes];
    new Random(id).nextBytes(noise);
    return noise;
  }

  private static void save(
      Dataset<Row> data, String format, Path path, Map<String, String> options) {
    data.write().format(format).options(options).mode("append").save(path.toString());
  }

  private static long bytesOf(Path directory) {
    try (var paths = Files.walk(directory)) {
      return paths
          .filter(Files::isRegularFile)
          .mapToLong(path -> path.toFile().length())
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path directory) {
    if (!Files.exists(directory)) {
      return;
    }
    try (var paths = Files.walk(directory)) {
      for (Path path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
