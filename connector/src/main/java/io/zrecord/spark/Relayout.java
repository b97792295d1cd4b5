package io.zrecord.spark;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.RelayoutResult;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.job.CommitProperties;
import io.zrecord.spark.job.JobConcurrency;
import io.zrecord.spark.job.RelayoutJobs;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.table.RecordTable;
import org.apache.spark.sql.SparkSession;

/**
 * Writes all records of a table in another order with Spark, as one version, with the map from the
 * old indices to the new ones beside it: the same as {@link TableRelayout} does in one process.
 * <b>An index names another record afterwards.</b> For one run.
 *
 * <pre>{@code
 * RelayoutResult result = Relayout.of(spark, "/data/train", RecordOrder.shuffle(42)).run();
 * long newIndex = result.snapshot().indexMap().orElseThrow().newIndex(17);
 * }</pre>
 *
 * <p>Each new shard is gathered by a task. A shuffle is computed by whoever needs it and takes no
 * memory; an order by a field is sorted by Spark, of values of any length and any number of
 * records, and is kept beside the table's shards until the run ends, 8 bytes a record. The driver
 * holds nothing for each record. To end a run, interrupt its thread or cancel its Spark jobs:
 * nothing has changed then. From the command line it is {@link Rebalance} with {@code --shuffle} or
 * {@code --order-by}.
 */
public final class Relayout {
  private final SparkSession spark;
  private final String path;
  private final RecordOrder order;
  private RebalanceOptions options = RebalanceOptions.defaults();
  private JobConcurrency concurrency;

  private Relayout(SparkSession spark, String path, RecordOrder order) {
    this.spark = spark;
    this.path = path;
    this.order = order;
    this.concurrency = JobConcurrency.of(spark);
  }

  /**
   * A relayout of a table.
   *
   * @param path as in {@code load}
   */
  public static Relayout of(SparkSession spark, String path, RecordOrder order) {
    return new Relayout(spark, path, order);
  }

  /**
   * How new shards are laid out, and at how many chunk bytes one ends, about; default that of
   * {@link RebalanceOptions#defaults}.
   */
  public Relayout layout(WriteOptions write, long targetShardBytes) {
    options = RebalanceOptions.defaults().withShardBytes(0, targetShardBytes).withWrite(write);
    return this;
  }

  /**
   * New shards that are written at once, each by a job of one task, 1 to 1,000; default Spark's
   * default parallelism.
   */
  public Relayout concurrency(int shards) {
    concurrency = new JobConcurrency(shards);
    return this;
  }

  /**
   * What a run would do, by the newest version.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no table
   * @throws IllegalArgumentException if there are no records, or they do not have the order
   */
  public RelayoutPlan plan() {
    return new RelayoutPlan(
        RecordTable.at(SparkStorages.storageFor(path)).latest(), order, options);
  }

  /**
   * Writes and commits.
   *
   * @throws io.zrecord.errors.CommitConflictException if anything was committed meanwhile; nothing
   *     changed, and what was written is deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     published; what was written stays
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; nothing changed
   * @throws io.zrecord.errors.ZRecordException if a task failed {@code spark.task.maxFailures}
   *     times, or there is no room; nothing changed
   * @throws java.util.concurrent.CancellationException if the thread was interrupted or a job
   *     cancelled; nothing changed
   */
  public RelayoutResult run() {
    return prepare(plan()).run();
  }

  /** The run of a plan. */
  TableRelayout prepare(RelayoutPlan plan) {
    TableRelayout run = TableRelayout.of(plan.snapshot(), order)
        .layout(options.write(), options.targetShardBytes());
    return onSpark(run, spark, concurrency);
  }

  /** Has a run use Spark. */
  static TableRelayout onSpark(TableRelayout run, SparkSession spark, JobConcurrency concurrency) {
    return run.threads(concurrency.count())
        .properties(CommitProperties.of(spark.sparkContext()))
        .working(plan -> new RelayoutJobs(spark, plan));
  }
}
