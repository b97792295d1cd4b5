package io.zrecord.benchmarks;

import io.zrecord.benchmarks.SqlPeers.Format;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Measures queries that keep few records, beside Iceberg, Delta and Parquet in one JVM, {@code
 * local[2]}. The contestants take turns. Compiled and started by benchmarks/run with the case
 * "sql-reads". At 100 percent there are 10 M records of 1 KiB in each of four tables, which takes
 * 42 GiB of disk. Argument: a work directory.
 */
final class SqlReads {
  private static final int KEYS = 10_000;
  private static final int DATA_BYTES = 1024;

  private static final List<Format> FORMATS = List.of(
      new Format("zrecord", "lake", "zrecord", ""),
      new Format("iceberg", "ice.db", "iceberg", "tblproperties ('format-version' = '3')"),
      new Format("delta", "spark_catalog.dv", "delta", ""),
      new Format("parquet", "spark_catalog.cow", "parquet", ""));

  private final SqlPeers peers;
  private final SparkSession spark;
  private final long count = Effort.of(10_000_000L);

  private SqlReads(SqlPeers peers) {
    this.peers = peers;
    this.spark = peers.spark();
  }

  public static void main(String[] args) {
    Path work = Path.of(args[0]).toAbsolutePath();
    try (SqlPeers peers = new SqlPeers(work, FORMATS)) {
      new SqlReads(peers).run(work.resolve("keys").toString());
    }
  }

  private void run(String keys) {
    peers.create(
        "records",
        "id bigint, label int, score double, data binary",
        "id, cast(pmod(xxhash64(id), 1000) as int), cast(id % 97 as double), noise(id, "
            + DATA_BYTES + ")",
        count);
    spark.sql("select pmod(xxhash64(id, 7), " + count + ") as id, id % 2 as part from range(0, "
        + 2 * KEYS + ")").distinct().coalesce(1).write().parquet(keys);
    spark.read().parquet(keys).createOrReplaceTempView("wanted");
    long from = count / 3;
    contest(
        "1 % by the sorted id",
        "select count(*), sum(length(data)) from T where id between " + from + " and "
            + (from + count / 100 - 1));
    contest(
        "0.1 % by a label in no order",
        "select count(*), sum(length(data)) from T where label = 77");
    contest(
        "5 % by labels in no order",
        "select count(*), sum(length(data)) from T where label < 50");
    contest(
        "half by labels in no order",
        "select count(*), sum(length(data)) from T where label < 500");
    contest(
        "a sum of a narrow column, 5 % by labels in no order",
        "select count(*), sum(score) from T where label < 50");
    contest(
        "a join with " + KEYS + " ids",
        "select count(*), sum(length(data)) from T t join wanted w on t.id = w.id where w.part = 1");
    peers.drop("records");
  }

  private void contest(String title, String query) {
    Contest contest = new Contest(title);
    for (Format format : peers.formats()) {
      contest.add(format.name(), () -> spark.sql(of(format, query)).collect());
    }
    Map<String, Double> medians = contest.run();
    double best = medians.entrySet().stream()
        .filter(entry -> !entry.getKey().equals("zrecord"))
        .mapToDouble(Map.Entry::getValue)
        .min()
        .orElseThrow();
    Figure.atLeast("faster than the best other", best / medians.get("zrecord"), 1);
    List<Row> answers = peers.formats().stream()
        .map(format -> spark.sql(of(format, query)).head())
        .distinct()
        .toList();
    if (answers.size() != 1) {
      throw new IllegalStateException("The contestants do not agree on " + title + ": " + answers);
    }
    Dataset<Row> own = spark.sql(of(peers.formats().get(0), query));
    own.collect();
    System.out.printf(
        Locale.ROOT,
        "%s: %d of %d records kept, bytes read / bytes of their data %.3f%n",
        title,
        answers.get(0).getLong(0),
        count,
        SqlMetrics.bytesRead(own.queryExecution().executedPlan())
            / (double) (answers.get(0).getLong(0) * DATA_BYTES));
  }

  private static String of(Format format, String query) {
    return query.replaceFirst(" T ", " " + format.table("records") + " ");
  }
}
