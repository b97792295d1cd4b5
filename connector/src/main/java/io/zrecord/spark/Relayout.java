package io.zrecord.spark;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.RelayoutResult;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.job.JobConcurrency;
import io.zrecord.spark.job.RelayoutJobs;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.table.RecordTable;
import org.apache.spark.sql.SparkSession;

/**
 * Writes all records of a table in another order with Spark, as one version. Also writes a map from
 * the old indices to the new indices. {@link TableRelayout} does this in one process. <b>An index
 * names another record afterwards.</b> For one run.
 *
 * <pre>{@code
 * RelayoutResult result = Relayout.of(spark, "/data/train", RecordOrder.shuffle(42)).run();
 * long newIndex = result.snapshot().indexMap().orElseThrow().newIndex(17);
 * }</pre>
 *
 * <p>A task gathers each new shard. Every task computes a shuffle by itself, without memory for the
 * order. An order by a field is sorted by Spark, for values of any length and any number of
 * records. The sorted order is stored next to the table's shards until the run ends, with 8 bytes a
 * record. The driver holds nothing for each record.
 *
 * <p>To end a run, interrupt its thread or cancel its Spark jobs: nothing has changed then. On the
 * command line, use {@link Rebalance} with {@code --shuffle} or {@code --order-by}.
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
   * Returns a relayout of a table.
   *
   * @param path path of the table, as in {@code load}
   */
  public static Relayout of(SparkSession spark, String path, RecordOrder order) {
    return new Relayout(spark, path, order);
  }

  /**
   * Sets the layout of new shards and the approximate chunk bytes at which a shard ends. The
   * default is that of {@link RebalanceOptions#defaults}.
   */
  public Relayout layout(WriteOptions write, long targetShardBytes) {
    options = RebalanceOptions.defaults().withShardBytes(0, targetShardBytes).withWrite(write);
    return this;
  }

  /**
   * Sets the number of new shards that are written at once, 1 to 1,000. A job of one task writes
   * each shard. The default is Spark's default parallelism.
   */
  public Relayout concurrency(int shards) {
    concurrency = new JobConcurrency(shards);
    return this;
  }

  /**
   * Returns what a run would do with the newest version.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no table
   * @throws IllegalArgumentException if there are no records, or the order does not fit the records
   */
  public RelayoutPlan plan() {
    return new RelayoutPlan(
        RecordTable.at(SparkStorages.storageFor(path)).latest(), order, options);
  }

  /**
   * Writes and commits the version.
   *
   * @throws io.zrecord.errors.CommitConflictException if anything was committed meanwhile; nothing
   *     changed, and the written shards are deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     published; the written shards stay
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; nothing changed
   * @throws io.zrecord.errors.ZRecordException if a task failed {@code spark.task.maxFailures}
   *     times, or there is no room; nothing changed
   * @throws java.util.concurrent.CancellationException if the thread was interrupted or a job
   *     cancelled; nothing changed
   */
  public RelayoutResult run() {
    return prepare(plan()).run();
  }

  /** Prepares the run of a plan. */
  TableRelayout prepare(RelayoutPlan plan) {
    TableRelayout run = TableRelayout.of(plan.snapshot(), order)
        .layout(options.write(), options.targetShardBytes());
    return RelayoutJobs.onSpark(run, spark, concurrency);
  }
}
