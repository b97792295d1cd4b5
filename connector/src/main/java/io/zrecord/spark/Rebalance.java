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
 * Rebalances a table with Spark. The driver plans from the manifest, and tasks rewrite groups of
 * shards. As soon as the task of a group is done, the driver replaces the group by a commit of its
 * own. Each index names the same record afterwards. For one run.
 *
 * <pre>{@code
 * RebalanceResult result = Rebalance.of(spark, "/data/train").options(RebalanceOptions.defaults().withMinUtilization(0.9)).run();
 * }</pre>
 *
 * <p>A run that ends early, for any reason, leaves some groups replaced and the others as they
 * were; another run continues. To end a run, interrupt its thread or cancel its Spark jobs. On the
 * command line:
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
   * Returns a rebalance of a table.
   *
   * @param path path of the table, as in {@code load}
   */
  public static Rebalance of(SparkSession spark, String path) {
    return new Rebalance(spark, path);
  }

  /** Sets which shards are worth rewriting, and how. */
  public Rebalance options(RebalanceOptions wanted) {
    options = wanted;
    return this;
  }

  /**
   * Sets the number of groups that are rewritten at once, 1 to 1,000. A job of one task rewrites
   * each group. The default is Spark's default parallelism.
   */
  public Rebalance concurrency(int groups) {
    concurrency = new JobConcurrency(groups);
    return this;
  }

  /**
   * Returns what a run would do with the newest version.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no table
   */
  public RebalancePlan plan() {
    return RebalancePlan.of(table.latest(), options);
  }

  /**
   * Plans and rewrites. A group that fails stays as it is, and the other groups continue.
   *
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if a commit may or may not have been
   *     published; no further group is begun then
   * @throws java.util.concurrent.CancellationException if the thread was interrupted or a job
   *     cancelled; no further group is begun then
   */
  public RebalanceResult run() {
    return prepare(plan()).run();
  }

  /** Prepares the run of a plan. */
  TableRebalance prepare(RebalancePlan plan) {
    return RewriteJobs.rebalance(spark, plan, concurrency);
  }

  /** Runs the command for {@code spark-submit}; {@code --help} prints its arguments. */
  public static void main(String[] args) {
    SubmittedCommand.run(new RebalanceJob(), args);
  }
}
