package io.zrecord.benchmarks;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;

/**
 * Measures records of about 1 KiB of source text, compressed with zstd:3, beside Parquet with the
 * same compression. Parquet's tables for the sizes and scans have no column but the text. Those for
 * random records have the index as well, to find records by it.
 */
final class TextCase {
  private static final int RANDOM_RECORDS = Effort.of(1_000);
  private static final String TEXT_ONLY = "text";
  private static final Map<String, String> PAGES_OF_1_MIB =
      Map.of("compression", "zstd", "parquet.compression.codec.zstd.level", "3");
  private static final Map<String, String> PAGES_OF_64_KIB = Map.of(
      "compression",
      "zstd",
      "parquet.compression.codec.zstd.level",
      "3",
      "parquet.page.size",
      "65536");
  private static final Map<String, String> BLOCKS =
      Map.of("durability", "none", "compression", "zstd:3");
  private static final Map<String, String> BLOCKS_OF_1_MIB =
      Map.of("durability", "none", "compression", "zstd:3", "blockBytes", "1m");

  private final SparkFormats formats;

  TextCase(SparkFormats formats) {
    this.formats = formats;
  }

  /** Measures the text of the {@code .jar} files of a directory. */
  void run(Path sources) throws IOException {
    SourceText text = store(sources);
    System.out.printf(
        Locale.ROOT,
        "%nText: %,d records, %.1f MiB%n",
        text.records(),
        text.bytes() / (double) (1 << 20));
    Dataset<Row> origin = formats.load("origin");
    Dataset<Row> column = origin.select(TEXT_ONLY);
    formats.save(column, "zrecord", "zrecord", BLOCKS);
    formats.save(column, "parquet", "parquet", PAGES_OF_1_MIB);
    formats.save(column, "parquet", "parquet-64k", PAGES_OF_64_KIB);
    formats.save(origin, "parquet", "indexed", PAGES_OF_1_MIB);
    formats.save(origin, "parquet", "indexed-64k", PAGES_OF_64_KIB);
    boolean hasLargeBlocks = saveLargeBlocks(column);
    sizes(text.bytes(), hasLargeBlocks);
    scans(hasLargeBlocks);
    random(text.records());
    formats.delete();
  }

  private SourceText store(Path sources) throws IOException {
    RecordSchema schema = RecordSchema.builder()
        .field("id", ElementType.I64)
        .field(TEXT_ONLY, ElementType.UTF8)
        .build();
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    Files.createDirectories(formats.path(""));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(formats.path("origin").toString(), schema, options)) {
      RecordAppender records = writer.newAppender();
      SourceText text = new SourceText();
      text.read(
          sources, (id, record) -> records.set("id", id).set(TEXT_ONLY, record).endRecord());
      writer.commit();
      return text;
    }
  }

  private boolean saveLargeBlocks(Dataset<Row> column) {
    try {
      formats.save(column, "zrecord", "zrecord-1m", BLOCKS_OF_1_MIB);
      return true;
    } catch (IllegalArgumentException e) {
      System.out.println("The option blockBytes is missing: " + e.getMessage());
      return false;
    }
  }

  private void sizes(long rawBytes, boolean hasLargeBlocks) {
    List.of("zrecord", "parquet", "parquet-64k")
        .forEach(name -> System.out.printf(
            Locale.ROOT,
            "Size / raw of %s: %.4f%n",
            name,
            (double) formats.bytesOf(name) / rawBytes));
    double size = formats.bytesOf("zrecord");
    Figure.atMost(
        "Size / Parquet with pages of 64 KiB", size / formats.bytesOf("parquet-64k"), 1.05);
    Figure.atMost("Size / Parquet", size / formats.bytesOf("parquet"), 1.2);
    if (hasLargeBlocks) {
      double large = formats.bytesOf("zrecord-1m");
      Figure.atMost("Size with blockBytes=1m / Parquet", large / formats.bytesOf("parquet"), 1.05);
    }
  }

  private void scans(boolean hasLargeBlocks) {
    Contest scan = new Contest("scan of text: sum of lengths");
    addScan(scan, "zrecord", formats.load("zrecord"));
    if (hasLargeBlocks) {
      addScan(scan, "zrecord, blockBytes=1m", formats.load("zrecord-1m"));
    }
    addScan(scan, "parquet", parquet("parquet"));
    addScan(scan, "parquet, pages of 64 KiB", parquet("parquet-64k"));
    Figure.atLeast("Scan beside the best Parquet", Figure.ratio(scan.run(), "parquet"), 1.5);
  }

  private static void addScan(Contest scan, String name, Dataset<Row> table) {
    scan.add(
        name, () -> table.selectExpr("sum(octet_length(" + TEXT_ONLY + "))").first());
  }

  private void random(long count) {
    Object[] wanted =
        new Random(7).longs(RANDOM_RECORDS, 0, count).boxed().distinct().toArray();
    String indices = Arrays.stream(wanted).map(Object::toString).collect(Collectors.joining(","));
    Map<String, Runnable> ways = new LinkedHashMap<>();
    ways.put(
        "zrecord, option indices",
        () -> fetch(formats
            .spark()
            .read()
            .format("zrecord")
            .option("indices", indices)
            .load(formats.path("zrecord").toString())));
    for (String name : List.of("indexed", "indexed-64k")) {
      ways.put(
          "parquet, where id in (" + name + ")",
          () -> fetch(parquet(name).where(functions.col("id").isin(wanted))));
    }
    Contest fetch = new Contest(wanted.length + " random records of text");
    ways.forEach(fetch::add);
    Map<String, Double> seconds = fetch.run();
    Figure.atLeast("Random records beside the best Parquet", Figure.ratio(seconds, "parquet"), 50);
    Figure.atMost("µs a random record", Contest.reference(seconds) * 1e6 / wanted.length, 150);
  }

  private static void fetch(Dataset<Row> records) {
    records.select(TEXT_ONLY).write().format("noop").mode("overwrite").save();
  }

  private Dataset<Row> parquet(String name) {
    return formats.spark().read().parquet(formats.path(name).toString());
  }
}
