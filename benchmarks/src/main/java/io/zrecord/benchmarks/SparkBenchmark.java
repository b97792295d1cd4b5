package io.zrecord.benchmarks;

import java.io.IOException;
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
 * Arguments: a work directory, then the cases to run (default all, except {@code text}, whose
 * sources {@code benchmarks/run} fetches).
 */
public final class SparkBenchmark {
  private static final List<String> CASES = List.of(
      "binary64k",
      "binary4k",
      "binary784",
      "scalars",
      "one-of-ten",
      "random",
      "strings",
      "integers",
      "label-beside-binary");

  private final SparkSession spark;
  private final SparkFormats formats;
  private final Path work;

  private SparkBenchmark(SparkSession spark, Path work) {
    this.spark = spark;
    this.formats = new SparkFormats(spark, work.resolve("tables"));
    this.work = work;
  }

  public static void main(String[] args) throws IOException {
    Path work = Files.createDirectories(Path.of(args.length > 0 ? args[0] : "target/benchmark"));
    List<String> cases = args.length > 1 ? Arrays.asList(args).subList(1, args.length) : CASES;
    SparkSession spark = SparkSession.builder()
        .master("local[2]")
        .appName("zrecord benchmark")
        .config("spark.ui.enabled", false)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", false)
        .getOrCreate();
    SparkBenchmark benchmark = new SparkBenchmark(spark, work);
    try {
      for (String name : cases) {
        benchmark.run(name);
      }
    } finally {
      spark.stop();
    }
  }

  private void run(String name) throws IOException {
    switch (name) {
      case "binary64k" -> binaries("64 KiB binaries", 64 << 10, 2L << 30);
      case "binary4k" -> binaries("4 KiB binaries", 4 << 10, 2L << 30);
      case "binary784" -> binaries("784 B binaries", 784, 1L << 30);
      case "scalars" -> scalars();
      case "one-of-ten" -> oneOfTen();
      case "random" -> random();
      case "strings" -> new StringsCase(formats).run();
      case "integers" -> new IntegersCase(formats).run();
      case "label-beside-binary" -> new LabelCase(formats).run();
      case "text" -> new TextCase(formats).run(work.resolve("sources"));
      default ->
        throw new IllegalArgumentException("Unknown case " + name + "; the cases are " + CASES);
    }
  }

  private void binaries(String title, int bytes, long totalBytes) {
    long count = Effort.of(totalBytes) / bytes;
    spark.udf().register("noise", (Long id) -> noise(id, bytes), DataTypes.BinaryType);
    Dataset<Row> source = spark.range(0, count, 1, 8).selectExpr("id", "noise(id) as bin");
    SparkFormats.Written written =
        formats.writes(title, formats.store(source), count * (8L + bytes));
    Map<String, Double> scan =
        formats.scans("scan of " + title + ": sum(length)", "sum(length(bin))");
    if (bytes == 784) {
      Figure.atMost("Size / raw", written.sizeOverRaw(), 1.008);
      Figure.atLeast("Scan beside the best Parquet", Figure.ratio(scan, "parquet"), 3);
    }
    formats.delete();
  }

  private void scalars() {
    long count = Effort.of(100_000_000L);
    Dataset<Row> source = spark
        .range(0, count, 1, 8)
        .selectExpr("cast(xxhash64(id) as int) i", "cast(xxhash64(id, 7) as float) f");
    formats.writes("two scalars", formats.store(source), count * 8);
    String title = count / 1_000_000 + " M records: ";
    formats.scans(title + "sum(f)", "sum(f)");
    formats.scans(title + "sum(i)", "sum(i)");
    Map<String, Double> both = formats.scans(title + "sum(i), sum(f)", "sum(i)", "sum(f)");
    Figure.atLeast("Both sums beside the best Parquet", Figure.ratio(both, "parquet"), 2);
    formats.delete();
  }

  private void oneOfTen() {
    long count = Effort.of(1_000_000L);
    spark.udf().register("noise", (Long id) -> noise(id, 256), DataTypes.BinaryType);
    String[] columns = new String[10];
    columns[0] = "cast(xxhash64(id) as int) i";
    for (int wide = 1; wide < columns.length; wide++) {
      columns[wide] = "noise(id * 10 + " + wide + ") as wide" + wide;
    }
    Dataset<Row> source = spark.range(0, count, 1, 8).selectExpr(columns);
    formats.writes(
        "an int beside nine 256-byte binaries", formats.store(source), count * (4 + 9 * 256L));
    formats.scans(count + " records: sum(i) beside nine 256-byte binaries", "sum(i)");
    System.out.printf(
        Locale.ROOT,
        "Bytes that the scan of i touched over its values' bytes: %.4f%n",
        (double) bytesRead(formats.load("zrecord").selectExpr("sum(i)")) / (count * 4));
    formats.delete();
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
    long count = Effort.of(10_000_000L);
    spark.udf().register("noise", (Long id) -> noise(id, 1024), DataTypes.BinaryType);
    Dataset<Row> source = spark.range(0, count, 1, 8).selectExpr("id", "noise(id) as bin");
    formats.save(source, "zrecord", "zrecord", Map.of("durability", "none"));
    formats.save(formats.load("zrecord"), "parquet", "parquet", Map.of());
    Random generator = new Random(7);
    Object[] wanted =
        generator.longs(Effort.of(10_000), 0, count).boxed().distinct().toArray();
    String list = Arrays.stream(wanted).map(Object::toString).collect(Collectors.joining(","));
    Map<String, Supplier<Dataset<Row>>> ways = new LinkedHashMap<>();
    ways.put(
        "zrecord, option indices",
        () -> spark
            .read()
            .format("zrecord")
            .option("indices", list)
            .load(formats.path("zrecord").toString()));
    ways.put(
        "zrecord, where _index in",
        () -> formats.load("zrecord").where(functions.col("_index").isin(wanted)));
    ways.put(
        "parquet, where id in",
        () -> spark
            .read()
            .parquet(formats.path("parquet").toString())
            .where(functions.col("id").isin(wanted)));
    String question = wanted.length + " random records of " + count + " x 1 KiB";
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
    formats.delete();
  }

  /** Returns bytes that do not compress, always the same for the same id. */
  static byte[] noise(long id, int bytes) {
    byte[] noise = new byte[bytes];
    new Random(id).nextBytes(noise);
    return noise;
  }
}
