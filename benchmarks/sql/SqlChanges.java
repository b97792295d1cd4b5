package io.zrecord.benchmarks;

import io.zrecord.benchmarks.SqlPeers.Format;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/**
 * Measures DELETE, UPDATE, MERGE and added columns beside Iceberg and Delta, each with copy-on-write
 * and with merge-on-read, in one JVM, {@code local[2]}. The contestants take turns. Each round
 * changes other records, after old files were removed. Compiled and started by benchmarks/run with
 * the cases "sql", "sql-fill" and "sql-images". At 100 percent there are 10 M records of 1 KiB and 100,000 of
 * 64 KiB in each of five tables, which takes 100 GiB of disk. Arguments: a work directory, and
 * "images" if only those are measured, which takes 40 GiB, or "fill" if only the column that is
 * added to the records of 1 KiB, which takes 60 GiB.
 */
final class SqlChanges {
  private static final int WARM_UPS = 1;
  private static final int ROUNDS = 3;

  private static final List<Format> FORMATS = List.of(
      new Format("zrecord", "lake", "zrecord", ""),
      new Format("iceberg copy-on-write", "ice.db", "iceberg", iceberg("copy-on-write")),
      new Format("iceberg merge-on-read", "ice.mor", "iceberg", iceberg("merge-on-read")),
      new Format("delta copy-on-write", "spark_catalog.cow", "delta", delta(false)),
      new Format("delta deletion vectors", "spark_catalog.dv", "delta", delta(true)));

  private final SqlPeers peers;
  private final SparkSession spark;

  private SqlChanges(SqlPeers peers) {
    this.peers = peers;
    this.spark = peers.spark();
  }

  private static String iceberg(String mode) {
    return String.format(
        "tblproperties ('format-version' = '3', 'write.delete.mode' = '%1$s',"
            + " 'write.update.mode' = '%1$s', 'write.merge.mode' = '%1$s')",
        mode);
  }

  private static String delta(boolean vectors) {
    return "tblproperties ('delta.enableDeletionVectors' = '" + vectors + "')";
  }

  public static void main(String[] args) {
    try (SqlPeers peers = new SqlPeers(Path.of(args[0]).toAbsolutePath(), FORMATS)) {
      SqlChanges changes = new SqlChanges(peers);
      String only = args.length == 1 ? "" : args[1];
      if (!only.equals("images")) {
        changes.records(!only.equals("fill"));
      }
      if (!only.equals("fill")) {
        changes.images();
      }
    }
  }

  private void records(boolean areChanged) {
    long count = Effort.of(10_000_000L);
    String table = "records";
    peers.create(table, "id bigint, label int, score double, data binary",
        "id, cast(id % 1000 as int), cast(id % 97 as double), noise(id, 1024)", count);
    if (areChanged) {
      change(table, count);
    }
    figures(contest(table, "a column is added and filled", round -> List.of(
        "alter table T add column c" + round + " bigint", "update T set c" + round + " = id * 2")),
        5, 0);
    peers.requireEqual(table, "count(*), sum(label), sum(score), sum(length(data)), sum(c0)");
    peers.drop(table);
  }

  private void change(String table, long count) {
    Map<String, Double> unchanged = scan(table, "label", "before");
    Map<String, Double> changed = scan(table, "score", "before");
    figures(contest(table, "DELETE of 0.1 %", round ->
        List.of("delete from T where id % 1000 = " + round)), 5, 1.5);
    figures(contest(table, "UPDATE of a number of 1 %", round ->
        List.of("update T set score = score + 1 where id % 100 = " + (10 + round))), 5, 1.5);
    figures(contest(table, "MERGE of 1 %", round -> List.of(
        "merge into T t using (select id, 0.5D as score from range(" + count + ") where id % 100 = "
            + (50 + round) + ") s on t.id = s.id when matched then update set score = s.score"
            + " when not matched then insert (id, label, score, data) values (s.id, 0, s.score,"
            + " null)")), 5, 1.5);
    ratios("scan of an unchanged column afterwards", unchanged, scan(table, "label", "after"), 0.95);
    ratios("scan of the changed column afterwards", changed, scan(table, "score", "after"), 0.8);
  }

  private void images() {
    long count = Effort.of(100_000L);
    String table = "images";
    peers.create(table, "id bigint, label int, image binary",
        "id, cast(id % 1000 as int), noise(id, 65536)", count);
    figures(contest(table, "UPDATE of 1 % of labels beside images of 64 KiB", round ->
        List.of("update T set label = label + 1 where id % 100 = " + round)), 20, 20);
    peers.requireEqual(table, "count(*), sum(label), sum(length(image))");
    peers.drop(table);
  }

  /** Statements of a round. */
  private interface Statements {
    List<String> of(int round);
  }

  private Map<String, Double> contest(String table, String title, Statements statements) {
    Contest contest = new Contest(title, WARM_UPS, ROUNDS);
    for (Format format : FORMATS) {
      int[] round = {0};
      contest.add(format.name(), () -> clean(format, table), () -> {
        for (String statement : statements.of(round[0])) {
          spark.sql(statement.replaceFirst(" T ", " " + format.table(table) + " ")).collect();
        }
        round[0]++;
      });
    }
    return contest.run();
  }

  /** Removes files of older versions, which would fill the disk. */
  private void clean(Format format, String table) {
    String name = format.table(table);
    if (format.provider().equals("iceberg")) {
      spark.sql("call ice.system.expire_snapshots(table => '" + name.substring("ice.".length())
          + "', older_than => timestamp'" + java.time.Instant.now().toString().replace('T', ' ')
              .substring(0, 19) + "', retain_last => 1)").collect();
    } else if (format.provider().equals("delta")) {
      spark.sql("vacuum " + name + " retain 0 hours").collect();
    }
  }

  private Map<String, Double> scan(String table, String column, String when) {
    Contest contest = new Contest("sum of " + column + ", " + when, WARM_UPS, ROUNDS);
    for (Format format : FORMATS) {
      contest.add(format.name(), () ->
          spark.sql("select sum(" + column + ") from " + format.table(table)).collect());
    }
    return contest.run();
  }

  private static void figures(Map<String, Double> medians, double copying, double merging) {
    double zrecord = medians.get("zrecord");
    best(medians, "copy-on-write", zrecord, copying);
    if (merging > 0) {
      best(medians, "merge-on-read or vectors", zrecord, merging);
    }
  }

  private static void best(
      Map<String, Double> medians, String mode, double zrecord, double asked) {
    double best = medians.entrySet().stream()
        .filter(entry -> !entry.getKey().equals("zrecord"))
        .filter(entry -> entry.getKey().endsWith("write") == mode.endsWith("write"))
        .mapToDouble(Map.Entry::getValue)
        .min()
        .orElseThrow();
    Figure.atLeast("faster than the better " + mode, best / zrecord, asked);
  }

  private static void ratios(
      String what, Map<String, Double> before, Map<String, Double> after, double asked) {
    Map<String, Double> ratios = new LinkedHashMap<>();
    before.forEach((name, seconds) -> ratios.put(name, seconds / after.get(name)));
    ratios.forEach((name, ratio) ->
        System.out.printf(Locale.ROOT, "%s, speed of before: %s %.2f%n", what, name, ratio));
    Figure.atLeast(what, ratios.get("zrecord"), asked);
  }
}
