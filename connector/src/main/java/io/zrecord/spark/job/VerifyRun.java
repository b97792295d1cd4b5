package io.zrecord.spark.job;

import io.zrecord.verify.CheckSummary;
import io.zrecord.verify.DatasetCheck;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * One check of a table: manifests were checked and shards were found when it began, and however
 * often its shards are checked it is those of the same versions. Lives on the driver.
 */
public final class VerifyRun {
  /** Findings of a whole run that the driver keeps by default. */
  public static final int MAX_TOLD = 100;

  private static final int MAX_TASKS = 10_000;

  private final SparkSession spark;
  private final int most;
  private final ShardFindings ofTable;
  private final VerifyTask task = new VerifyTask();
  private final List<byte[]> messages = new ArrayList<>();

  /**
   * Checks the manifests, and finds the shards.
   *
   * @param most findings that are kept of the table and of all shards together; of those that
   *     {@link #findings} has as rows only the former
   */
  public VerifyRun(SparkSession spark, DatasetCheck check, int most) {
    this.spark = spark;
    this.most = most;
    List<ShardFindings.ShardFinding> kept = new ArrayList<>();
    CheckSummary summary = check.withoutShards(
        finding -> {
          if (kept.size() < most) {
            kept.add(new ShardFindings.ShardFinding(null, finding));
          }
        },
        (shard, schema) -> messages.add(task.message(shard, schema)));
    this.ofTable = new ShardFindings(summary, kept, 0);
  }

  /** What tasks are told of the shards. */
  public List<byte[]> messages() {
    return messages;
  }

  /** Checks the shards; counts all findings and keeps the first. */
  public ShardFindings run() {
    if (messages.isEmpty()) {
      return ofTable;
    }
    VerifyTask checks = task;
    int kept = most;
    byte[] found = distributed()
        .map(message -> ObjectBytes.of(checks.check(message, kept)))
        .reduce((one, other) -> ObjectBytes.of(ObjectBytes.read(one, ShardFindings.class)
            .plus(ObjectBytes.read(other, ShardFindings.class), kept)));
    return ofTable.plus(ObjectBytes.read(found, ShardFindings.class), most);
  }

  /**
   * Findings as rows, of a shard the first {@value ShardFindings#MAX_LISTED}; shards are checked
   * whenever they are asked for.
   */
  public Dataset<Row> findings() {
    List<Row> rows =
        ofTable.findings().stream().map(ShardFindings.ShardFinding::row).toList();
    Dataset<Row> found = spark.createDataFrame(rows, ShardFindings.COLUMNS);
    if (messages.isEmpty()) {
      return found;
    }
    VerifyTask checks = task;
    JavaRDD<Row> foundInShards = distributed()
        .flatMap(message -> checks.check(message, ShardFindings.MAX_LISTED).findings().stream()
            .map(ShardFindings.ShardFinding::row)
            .iterator());
    return found.union(spark.createDataFrame(foundInShards, ShardFindings.COLUMNS));
  }

  /** Those by which values of certain records cannot be read. */
  public Dataset<Row> badValues() {
    return findings().where("damage and index is not null");
  }

  private JavaRDD<byte[]> distributed() {
    return JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(messages, Math.min(MAX_TASKS, messages.size()));
  }
}
