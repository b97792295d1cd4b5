package io.zrecord.spark.job;

import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.RelayoutWork;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/**
 * Writes each range of a relayout in a job of one task, and the index map in another job. Lives on
 * the driver.
 */
public final class RelayoutJobs implements RelayoutWork {
  private final RelayoutPlan plan;
  private final TaskJobs jobs;
  private final RewriteCounters counters;
  private final RewriteTask ranges;
  private final @Nullable SortedOrder sorted;

  /** Creates the jobs and finds the order, sorting if necessary. */
  public RelayoutJobs(SparkSession session, RelayoutPlan plan) {
    this.plan = plan;
    JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
    this.jobs = new TaskJobs(spark, storage(), "relayout", "nothing changed");
    this.counters = new RewriteCounters(spark.sc());
    this.ranges =
        task(new RangeRewriting(version(), plan.order(), plan.options(), UUID.randomUUID()));
    this.sorted = plan.order() instanceof RecordOrder.ByField order
        ? SortedOrder.of(session, plan, order, jobs)
        : null;
  }

  /** Makes a run use Spark. */
  public static TableRelayout onSpark(
      TableRelayout run, SparkSession spark, JobConcurrency concurrency) {
    return run.threads(concurrency.count())
        .properties(CommitProperties.of(spark.sparkContext()))
        .working(plan -> new RelayoutJobs(spark, plan));
  }

  private Storage storage() {
    return plan.snapshot().storage();
  }

  private long version() {
    return plan.snapshot().version();
  }

  private RewriteTask task(RewriteTask.Rewriting rewriting) {
    return new RewriteTask(TableLocation.of(storage()), rewriting, counters);
  }

  @Override
  public List<ShardSummary> write(RelayoutPlan.Range range, LongConsumer onRecords) {
    RangeOrder order = sorted == null ? new RangeOrder(range, List.of(), 0) : sorted.within(range);
    String description = "records " + range.from() + " to " + (range.to() - 1);
    return jobs.run(order, ranges, description, range.to() - range.from(), onRecords);
  }

  @Override
  public ShardSummary writeMap() {
    List<ShardSummary> map = plan.order() instanceof RecordOrder.Shuffle shuffle
        ? jobs.run(
            "",
            task(new ShuffleMap(version(), shuffle, plan.options().write())),
            "index map",
            0,
            records -> {})
        : Objects.requireNonNull(sorted).writeMap(jobs);
    return map.get(0);
  }

  @Override
  public void close() {
    if (sorted != null) {
      sorted.close();
    }
  }
}
