package io.zrecord.benchmarks;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Measures 100 million integers that repeat, compressed with zstd:1, beside Parquet's default. */
final class IntegersCase {
  private static final Map<String, String> ZSTD =
      Map.of("durability", "none", "compression", "zstd:1");

  private final SparkFormats formats;
  private final long count;

  IntegersCase(SparkFormats formats) {
    this.formats = formats;
    this.count = Effort.of(100_000_000L);
  }

  void run() {
    Map<String, String> kinds = new LinkedHashMap<>();
    kinds.put("labels of 1,000 classes", "cast(pmod(xxhash64(id), 1000) as int)");
    kinds.put("sorted ids", "id div 7");
    kinds.put("timestamps", "1700000000000 + id div 4 + pmod(xxhash64(id), 250)");
    kinds.forEach(this::run);
  }

  private void run(String title, String expression) {
    Dataset<Row> integers =
        formats.store(formats.spark().range(0, count, 1, 8).selectExpr(expression + " as i"));
    formats.save(integers, "zrecord", "zrecord", ZSTD);
    formats.save(integers, "parquet", "parquet", Map.of());
    formats.delete("origin");
    Contest scan = new Contest(count / 1_000_000.0 + " M " + title + ": sum(i)");
    scan.add(
        "zrecord, zstd:1", () -> formats.load("zrecord").selectExpr("sum(i)").first());
    scan.add(
        "parquet",
        () -> formats
            .spark()
            .read()
            .parquet(formats.path("parquet").toString())
            .selectExpr("sum(i)")
            .first());
    Map<String, Double> seconds = scan.run();
    double size = formats.bytesOf("zrecord");
    System.out.printf(
        Locale.ROOT,
        "Bytes an integer: zrecord %.3f, parquet %.3f%n",
        size / count,
        (double) formats.bytesOf("parquet") / count);
    Figure.atMost("Size / Parquet's default", size / formats.bytesOf("parquet"), 1.2);
    Figure.atLeast("Sum beside Parquet's default", Figure.ratio(seconds, "parquet"), 1);
    formats.delete();
  }
}
