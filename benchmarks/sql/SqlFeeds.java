package io.zrecord.benchmarks;

import io.zrecord.benchmarks.SqlPeers.Format;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.streaming.Trigger;

/**
 * Measures what changed in a table, and small batches of a stream, beside Iceberg and Delta in one
 * JVM, {@code local[2]}. Compiled and started by benchmarks/run with the case "sql-feeds". At 100
 * percent 100 versions change 10,000 of 10 M records of 1 KiB each, in three tables, and streams
 * write 1,000 batches. A part of that has that part of the records, versions and batches. Iceberg
 * has copy-on-write, because its changes cannot be read otherwise. Argument: a work directory.
 */
final class SqlFeeds {
  private static final int COMMITS = Math.max(2, Effort.of(100));
  private static final int BATCH_ROWS = 100;

  private static final List<Format> FORMATS = List.of(
      new Format("zrecord", "lake", "zrecord", ""),
      new Format("iceberg", "ice.db", "iceberg", "tblproperties ('format-version' = '2')"),
      new Format(
          "delta",
          "spark_catalog.dv",
          "delta",
          "tblproperties ('delta.enableDeletionVectors' = 'true',"
              + " 'delta.enableChangeDataFeed' = 'true')"));

  private final SqlPeers peers;
  private final SparkSession spark;
  private final Path work;

  private SqlFeeds(SqlPeers peers, Path work) {
    this.peers = peers;
    this.spark = peers.spark();
    this.work = work;
  }

  public static void main(String[] args) throws TimeoutException, StreamingQueryException {
    Path work = Path.of(args[0]).toAbsolutePath();
    try (SqlPeers peers = new SqlPeers(work, FORMATS)) {
      SqlFeeds feeds = new SqlFeeds(peers, work);
      feeds.changes();
      feeds.batches();
    }
  }

  private void changes() {
    long count = Effort.of(10_000_000L);
    long changed = Math.max(1, count / 1000);
    // Of binaries, Iceberg tells changes that were none: it does not see that bytes stayed.
    String columns = "id bigint, label int, score double, data string";
    peers.create(
        "records",
        columns,
        "id, cast(id % 1000 as int), cast(id % 97 as double), hex(noise(id, 512))",
        count);
    String before = icebergSnapshot();
    for (int commit = 0; commit < COMMITS; commit++) {
      long from = commit * (count / COMMITS);
      for (Format format : FORMATS) {
        spark.sql("update " + format.table("records") + " set score = score + 0.5 where id >= "
            + from + " and id < " + (from + changed)).collect();
      }
    }
    for (String columnsRead : List.of("score", "score, data")) {
      String sum = columnsRead.equals("score")
          ? "count(*), sum(score)"
          : "count(*), sum(score), sum(length(data))";
      Map<String, Contender> contenders = contenders(before);
      Contest contest =
          new Contest("changes of " + COMMITS + " versions, " + columnsRead, 1, 3);
      contenders.forEach((name, contender) -> contest.add(name, () -> contender.read(sum)));
      Map<String, Double> medians = contest.run();
      double best = Math.min(medians.get("iceberg"), medians.get("delta"));
      Figure.atLeast(
          "changes, " + columnsRead + ", faster than the best other",
          best / medians.get("zrecord"),
          1);
      List<List<Row>> answers = contenders.values().stream().map(c -> c.read(sum)).toList();
      if (answers.stream().distinct().count() != 1) {
        throw new IllegalStateException("The contestants do not agree: " + answers);
      }
      System.out.println("All contestants agree: " + answers.get(0));
      Dataset<Row> own = SqlFeeds.zrecordChanges(spark, sum);
      own.collect();
      long values = columnsRead.equals("score") ? 8 : 8 + 1024;
      Figure.atMost(
          "changes, " + columnsRead + ", bytes read / bytes of what is told",
          SqlMetrics.bytesRead(own.queryExecution().executedPlan())
              / (double) (2 * changed * COMMITS * values),
          1.5);
    }
    peers.drop("records");
  }

  /** Reads the changes of all versions by a contestant's own way. */
  private interface Contender {
    List<Row> read(String sum);
  }

  private Map<String, Contender> contenders(String before) {
    Map<String, Contender> all = new LinkedHashMap<>();
    String grouped = "select kind, %s from %s group by kind order by kind";
    all.put("zrecord", sum -> zrecordChanges(spark, sum).collectAsList());
    all.put("iceberg", sum -> {
      spark.sql("call ice.system.create_changelog_view(table => 'db.records',"
          + " changelog_view => 'told', options => map('start-snapshot-id', '" + before + "'),"
          + " compute_updates => true, identifier_columns => array('id'))").collect();
      return spark
          .sql(String.format(
              grouped, sum, "(select lower(_change_type) kind, score, data from told)"))
          .collectAsList();
    });
    all.put("delta", sum -> spark
        .sql(String.format(
            grouped,
            sum,
            "(select replace(replace(_change_type, 'preimage', 'before'), 'postimage', 'after')"
                + " kind, score, data from table_changes('spark_catalog.dv.records', 2))"))
        .collectAsList());
    return all;
  }

  private static Dataset<Row> zrecordChanges(SparkSession spark, String sum) {
    String[] sums = sum.split(", ");
    return spark
        .read()
        .option("changesFrom", 2)
        .table("lake.records")
        .selectExpr("replace(replace(_change_type, 'preimage', 'before'), 'postimage', 'after')"
            + " kind", "score", "data")
        .groupBy("kind")
        .agg(
            org.apache.spark.sql.functions.expr(sums[0]),
            Arrays.stream(sums)
                .skip(1)
                .map(org.apache.spark.sql.functions::expr)
                .toArray(org.apache.spark.sql.Column[]::new))
        .orderBy("kind");
  }

  private String icebergSnapshot() {
    return String.valueOf(spark
        .sql("select snapshot_id from ice.db.records.snapshots order by committed_at desc")
        .head()
        .getLong(0));
  }

  /** Writes small batches, each of which is a version. */
  private void batches() throws TimeoutException, StreamingQueryException {
    int batches = Effort.of(1000);
    String source = work.resolve("source").toString();
    spark.range(0, (long) batches * BATCH_ROWS, 1, batches).toDF("value").write().parquet(source);
    for (Format format : FORMATS) {
      String name = format.table("streamed");
      spark.sql("create table " + name + " (value bigint) using "
          + format.provider() + " " + format.properties());
      double[] seconds = stream(source, name, format.name(), batches);
      int part = Math.max(1, batches / 10);
      double first = Contest.median(Arrays.copyOfRange(seconds, part, 2 * part));
      double last = Contest.median(Arrays.copyOfRange(seconds, batches - part, batches));
      System.out.printf(
          Locale.ROOT,
          "%s: %d batches, %.3f s in the second tenth and %.3f s in the last one, %d files%n",
          format.name(),
          batches,
          first,
          last,
          files(format));
      if (format.name().equals("zrecord")) {
        Figure.atMost("seconds of a late batch / of an early one", last / first, 1.2);
      }
    }
    peers.requireEqual("streamed", "count(*), count(distinct value), max(value)");
    peers.drop("streamed");
  }

  /** Returns the seconds of each batch. */
  private double[] stream(String source, String table, String name, int batches)
      throws TimeoutException, StreamingQueryException {
    List<Double> seconds = new ArrayList<>();
    spark.conf().set("spark.sql.streaming.numRecentProgressUpdates", batches + 10);
    StreamingQuery query = spark
        .readStream()
        .schema("value bigint")
        .option("maxFilesPerTrigger", 1)
        .parquet(source)
        .writeStream()
        .option("checkpointLocation", work.resolve("checkpoint-" + name).toString())
        .trigger(Trigger.AvailableNow())
        .toTable(table);
    query.awaitTermination();
    for (StreamingQueryProgress progress : query.recentProgress()) {
      if (progress.numInputRows() > 0) {
        seconds.add(progress.batchDuration() / 1000.0);
      }
    }
    return seconds.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private long files(Format format) {
    Path root = switch (format.provider()) {
      case "zrecord" -> work.resolve("zrecord");
      case "iceberg" -> work.resolve("iceberg");
      default -> work.resolve("warehouse");
    };
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(path -> path.toString().contains("streamed"))
          .filter(Files::isRegularFile)
          .filter(path -> !path.getFileName().toString().startsWith("."))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
