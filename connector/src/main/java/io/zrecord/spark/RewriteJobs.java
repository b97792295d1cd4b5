package io.zrecord.spark;

import io.zrecord.rebalance.GroupRewrite;
import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Has each group rewritten by a job of one task: what fails for good fails alone, and a commit waits for no other group. Lives on the
 * driver. Thread-safe.
 */
final class RewriteJobs implements GroupRewrite {
  /** What Spark says of a job that somebody cancelled; a condition with a name it is only since 4.0. */
  private static final Pattern CANCELLED =
      Pattern.compile("(\\[SPARK_JOB_CANCELLED\\] )?Job [0-9]+ cancelled");

  private final JavaSparkContext spark;
  private final String location;
  private final RewriteTask task;

  RewriteJobs(JavaSparkContext spark, RebalancePlan plan) {
    this.spark = spark;
    this.location = plan.snapshot().storage().location();
    this.task = new RewriteTask(plan, spark.sc());
  }

  /**
   * Runs the job and waits for it.
   *
   * @throws GroupFailedException if the values cannot be rewritten, or Spark gave up after {@code spark.task.maxFailures} attempts
   * @throws IllegalStateException if this thread was interrupted, the job cancelled, or Spark stopped: then no other group is begun
   */
  @Override
  public List<ShardSummary> rewrite(RebalanceGroup group, LongConsumer onRecords) {
    String description = "Rebalance " + location + ": " + group;
    spark.sc().setJobDescription(description);
    GroupProgress progress = new GroupProgress(description, task.recordsId(), onRecords);
    spark.sc().addSparkListener(progress);
    try {
      List<ShardSummary> shards = rewrite(group);
      progress.tell(group.recordCount());
      return shards;
    } finally {
      spark.sc().removeSparkListener(progress);
    }
  }

  private List<ShardSummary> rewrite(RebalanceGroup group) {
    JavaFutureAction<List<byte[]>> job =
        spark.parallelize(List.of(ObjectBytes.of(group)), 1).map(task).collectAsync();
    RewrittenGroup rewritten;
    try {
      rewritten = ObjectBytes.read(job.get().get(0), RewrittenGroup.class);
    } catch (InterruptedException e) {
      job.cancel(true);
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted in a rebalance; what was committed is kept", e);
    } catch (ExecutionException e) {
      throw failure(e.getCause() == null ? e : e.getCause());
    }
    if (rewritten.failure() != null) {
      throw new GroupFailedException(location, rewritten.failure(), null);
    }
    return rewritten.shards();
  }

  private RuntimeException failure(Throwable cause) {
    String reason = (cause.getMessage() == null ? cause.toString() : cause.getMessage())
        .lines()
        .findFirst()
        .orElse("");
    boolean isCancelled = CANCELLED.matcher(reason).lookingAt();
    return isCancelled || spark.sc().isStopped()
        ? new IllegalStateException(
            "The rebalance of " + location + " was cancelled, what it committed is kept: " + reason,
            cause)
        : new GroupFailedException(location, reason, cause);
  }
}
