package io.zrecord.spark;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.spark.job.JobConcurrency;
import io.zrecord.spark.job.RewriteJobs;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.table.RecordTable;
import org.apache.spark.sql.SparkSession;

/**
 * Rebalances a table with Spark: the driver plans from the manifest, tasks rewrite groups of
 * shards, and the driver replaces each group by a commit of its own as soon as its task is done.
 * Which record an index names never changes. For one run.
 *
 * <pre>{@code
 * RebalanceResult result = Rebalance.of(spark, "/data/train").options(RebalanceOptions.defaults().withMinUtilization(0.9)).run();
 * }</pre>
 *
 * <p>A run that ends early, by whatever, leaves some groups replaced and the others as they were;
 * another run goes on. To end one, interrupt its thread or cancel its Spark jobs. From the command
 * line it is
 *
 * <pre>{@code
 * spark-submit --class io.zrecord.spark.Rebalance zrecord-spark.jar --help
 * }</pre>
 */
public final class Rebalance {
  private final SparkSession spark;
  private final RecordTable table;
  private RebalanceOptions options = RebalanceOptions.defaults();
  private JobConcurrency concurrency;

  private Rebalance(SparkSession spark, String path) {
    this.spark = spark;
    this.table = RecordTable.at(SparkStorages.storageFor(path));
    this.concurrency = JobConcurrency.of(spark);
  }

  /**
   * A rebalance of a table.
   *
   * @param path as in {@code load}
   */
  public static Rebalance of(SparkSession spark, String path) {
    return new Rebalance(spark, path);
  }

  /** What is worth rewriting, and how. */
  public Rebalance options(RebalanceOptions wanted) {
    options = wanted;
    return this;
  }

  /**
   * Groups that are rewritten at once, each by a job of one task, 1 to 1,000; default Spark's
   * default parallelism.
   */
  public Rebalance concurrency(int groups) {
    concurrency = new JobConcurrency(groups);
    return this;
  }

  /**
   * What a run would do, by the newest version.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no table
   */
  public RebalancePlan plan() {
    return RebalancePlan.of(table.latest(), options);
  }

  /**
   * Plans and rewrites. A group that fails stays as it is, and the others go on.
   *
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if a commit may or may not have been
   *     published; then nothing more is begun
   * @throws java.util.concurrent.CancellationException if the thread was interrupted or a job
   *     cancelled; then nothing more is begun
   */
  public RebalanceResult run() {
    return prepare(plan()).run();
  }

  /** The run of a plan. */
  TableRebalance prepare(RebalancePlan plan) {
    return RewriteJobs.rebalance(spark, plan, concurrency);
  }

  /** Entry for {@code spark-submit}: {@code --help} says what it takes. */
  public static void main(String[] args) {
    SubmittedCommand.run(new RebalanceJob(), args);
  }
}
