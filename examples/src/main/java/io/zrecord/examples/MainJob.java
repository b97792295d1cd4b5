package io.zrecord.examples;

import io.zrecord.RecordDataset;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The whole way of a data engineer on real files: reads a directory with Spark's
 * {@code binaryFile}, writes it as zrecord and as Parquet, reads both back and compares every byte
 * by hash, fetches records by index, appends, goes back to the first version, and prints what each
 * step took. The exit code is 1 if anything differs.
 */
@Command(
    name = "main-job",
    mixinStandardHelpOptions = true,
    description =
        "Converts real files to zrecord and Parquet, compares every byte, and prints times and sizes.")
public final class MainJob implements Callable<Integer> {
  private static final int FETCHED_RECORDS = 1000;

  @Option(names = "--input", description = "directory of files to convert (default: the JDK's own)")
  private Path input = Path.of(System.getProperty("java.home"));

  @Option(
      names = "--work",
      description = "directory for the datasets (default: a new temporary one)")
  private Path work = Path.of("");

  @Option(names = "--keep", description = "keep the datasets")
  private boolean keeps;

  private final Steps steps = new Steps();

  private MainJob() {}

  public static void main(String[] args) {
    System.exit(new CommandLine(new MainJob()).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    if (!Files.isDirectory(input)) {
      throw new IllegalArgumentException("--input " + input + " is not a directory");
    }
    boolean isTemporary = work.toString().isEmpty();
    Path directory =
        isTemporary ? Files.createTempDirectory("zrecord-main-job") : Files.createDirectories(work);
    SparkSession spark = SparkSession.builder()
        .appName("zrecord main job")
        .master("local[*]")
        .config("spark.ui.enabled", false)
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate();
    try {
      run(spark, directory);
    } finally {
      spark.stop();
      if (isTemporary && !keeps) {
        delete(directory);
      }
    }
    steps.print();
    return steps.allAgree() ? 0 : 1;
  }

  private void run(SparkSession spark, Path directory) {
    String zrecord = directory.resolve("files.zrecord").toString();
    String compressed = directory.resolve("files.zstd.zrecord").toString();
    String parquet = directory.resolve("files.parquet").toString();
    Dataset<Row> files = spark
        .read()
        .format("binaryFile")
        .option("recursiveFileLookup", true)
        .load(input.toAbsolutePath().toString())
        .select("path", "modificationTime", "length", "content");
    long count = steps.time("list", "files", () -> files.select("path").count());
    steps.say(count + " files below " + input);

    steps.time("write", "zrecord", () -> save(files, "zrecord", zrecord, "overwrite"));
    steps.time("write", "parquet", () -> save(files, "parquet", parquet, "overwrite"));
    steps.time("write", "zstd", () -> saveCompressed(files, compressed));
    long firstVersion = newestVersion(zrecord);
    steps.size("size", "zrecord", bytesOf(Path.of(zrecord)));
    steps.size("size", "parquet", bytesOf(Path.of(parquet)));
    steps.size("size", "zstd", bytesOf(Path.of(compressed)));

    Dataset<Row> fromZrecord = spark.read().format("zrecord").load(zrecord);
    Dataset<Row> fromParquet = spark.read().parquet(parquet);
    Dataset<Row> fromZstd = spark.read().format("zrecord").load(compressed);
    List<Row> expected = steps.time("hash all", "files", () -> hashes(files));
    steps.agree("every byte that Spark reads of the files", SourceFiles.hashes(expected), expected);
    steps.agree("number of files", count, (long) expected.size());
    steps.agree(
        "every byte of zrecord",
        expected,
        steps.time("hash all", "zrecord", () -> hashes(fromZrecord)));
    steps.agree(
        "every byte of parquet",
        expected,
        steps.time("hash all", "parquet", () -> hashes(fromParquet)));
    steps.agree(
        "every byte of zrecord with zstd",
        expected,
        steps.time("hash all", "zstd", () -> hashes(fromZstd)));

    steps.time(
        "lengths", "zrecord", () -> fromZrecord.agg(functions.sum("length")).first());
    steps.time(
        "lengths", "parquet", () -> fromParquet.agg(functions.sum("length")).first());

    fetch(fromZrecord, fromParquet, count);

    steps.time("append", "zrecord", () -> save(files, "zrecord", zrecord, "append"));
    steps.time("append", "parquet", () -> save(files, "parquet", parquet, "append"));
    Dataset<Row> appended = spark.read().format("zrecord").load(zrecord);
    steps.agree("count after append", 2 * count, steps.time("count", "zrecord", appended::count));
    steps.time("count", "parquet", () -> spark.read().parquet(parquet).count());
    Dataset<Row> before =
        spark.read().format("zrecord").option("versionAsOf", firstVersion).load(zrecord);
    steps.agree(
        "the version before the append",
        expected,
        steps.time("hash old version", "zrecord", () -> hashes(before)));
  }

  /** Fetches the same records from both: by index, and by the path at that index. */
  private void fetch(Dataset<Row> fromZrecord, Dataset<Row> fromParquet, long count) {
    Random random = new Random(42);
    List<Long> wanted =
        random.longs(FETCHED_RECORDS, 0, count).boxed().distinct().sorted().toList();
    Column isWanted = functions.col("_index").isin(wanted.toArray());
    List<Row> found =
        steps.time("fetch " + wanted.size(), "zrecord", () -> hashes(fromZrecord.where(isWanted)));
    Object[] paths = found.stream().map(row -> row.getString(0)).toArray();
    List<Row> same = steps.time(
        "fetch " + wanted.size(),
        "parquet",
        () -> hashes(fromParquet.where(functions.col("path").isin(paths))));
    steps.agree("records fetched", found.size(), wanted.size());
    steps.agree("records fetched by index and by path", found, same);
  }

  private static boolean save(Dataset<Row> files, String format, String path, String mode) {
    files.write().format(format).mode(mode).save(path);
    return true;
  }

  private static boolean saveCompressed(Dataset<Row> files, String path) {
    files
        .write()
        .format("zrecord")
        .option("compression.content", "zstd")
        .mode("overwrite")
        .save(path);
    return true;
  }

  private static long newestVersion(String path) {
    try (RecordDataset dataset = RecordDataset.open(path)) {
      return dataset.version().orElseThrow();
    }
  }

  /** Returns the path, length and hash of each file, sorted by path. */
  private static List<Row> hashes(Dataset<Row> files) {
    return files
        .select(
            functions.col("path"),
            functions.col("length"),
            functions.sha2(functions.col("content"), 256))
        .sort("path")
        .collectAsList();
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

  private static void delete(Path directory) throws IOException {
    Files.walkFileTree(directory, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
          throws IOException {
        Files.delete(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path visited, java.io.IOException error)
          throws IOException {
        Files.delete(visited);
        return FileVisitResult.CONTINUE;
      }
    });
  }
}
