package io.zrecord.spark.job;

import io.zrecord.rebalance.GroupRewrite;
import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Rewrites each group in a job of one task: a permanent failure ends only its own group, and a
 * commit waits for no other group. Lives on the driver. Thread-safe.
 */
public final class RewriteJobs implements GroupRewrite {
  private final TaskJobs jobs;
  private final RewriteTask task;

  private RewriteJobs(JavaSparkContext spark, RebalancePlan plan) {
    Storage storage = plan.snapshot().storage();
    this.jobs = new TaskJobs(spark, storage, "rebalance", "what was committed is kept");
    this.task = new RewriteTask(
        TableLocation.of(storage),
        new GroupRewriting(plan.schema().forWriters(), plan.options()),
        new RewriteCounters(spark.sc()));
  }

  /** Returns the run of a plan whose groups are rewritten by Spark. */
  public static TableRebalance rebalance(
      SparkSession spark, RebalancePlan plan, JobConcurrency concurrency) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    return TableRebalance.of(plan)
        .threads(concurrency.count())
        .properties(CommitProperties.of(spark.sparkContext()))
        .rewriting(new RewriteJobs(context, plan));
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.util.concurrent.CancellationException if this thread was interrupted, the job
   *     cancelled, or Spark stopped; no other group is begun then
   */
  @Override
  public List<ShardSummary> rewrite(RebalanceGroup group, LongConsumer onRecords) {
    return jobs.run(group, task, group.toString(), group.recordCount(), onRecords);
  }
}
