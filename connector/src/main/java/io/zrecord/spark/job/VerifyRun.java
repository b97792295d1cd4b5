package io.zrecord.spark.job;

import io.zrecord.findings.CheckSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.verify.DatasetCheck;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * One check of a table. The manifests were checked and the shards were found when the run began.
 * Checking the shards again checks the same versions. Lives on the driver.
 */
public final class VerifyRun {
  /** Default for the greatest number of findings of a whole run that the driver keeps. */
  public static final int MAX_TOLD = 100;

  private static final int MAX_TASKS = 10_000;

  private final SparkSession spark;
  private final int most;
  private final ShardFindings ofTable;
  private final VerifyTask task;
  private final List<byte[]> messages = new ArrayList<>();

  /**
   * Checks the manifests, and finds the shards.
   *
   * @param most greatest number of findings kept, of the table and all shards together; in
   *     {@link #findings}, it limits only those of the table
   */
  public VerifyRun(SparkSession spark, Storage table, DatasetCheck check, int most) {
    this.spark = spark;
    this.most = most;
    this.task = new VerifyTask(TableLocation.of(table));
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

  /** Returns the message of each shard for its task. */
  public List<byte[]> messages() {
    return messages;
  }

  /** Checks the shards. Counts all findings and keeps the first. */
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
   * Returns findings as rows, of each shard the first {@value ShardFindings#MAX_LISTED}. Shards are
   * checked whenever the rows are asked for.
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

  /** Returns the findings by which values of certain records cannot be read. */
  public Dataset<Row> badValues() {
    return findings().where("damage and index is not null");
  }

  private JavaRDD<byte[]> distributed() {
    return JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(messages, Math.min(MAX_TASKS, messages.size()));
  }
}
