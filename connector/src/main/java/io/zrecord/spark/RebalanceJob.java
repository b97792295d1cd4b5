package io.zrecord.spark;

import io.zrecord.cli.maintenance.RebalanceArguments;
import io.zrecord.cli.maintenance.RelayoutArguments;
import io.zrecord.cli.maintenance.RelayoutRun;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.spark.job.JobConcurrency;
import io.zrecord.spark.job.RelayoutJobs;
import io.zrecord.spark.job.RewriteJobs;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.table.RecordTable;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Rebalances a table, or rewrites it in another order, for {@code spark-submit}. */
@Command(
    name = "spark-submit --class io.zrecord.spark.Rebalance JAR",
    description = {
      "Joins small shards of a table, and rewrites those with many dead bytes or another compression"
          + " than wanted. Indices keep their records, except with --order-by and --shuffle. Versions"
          + " before stay as they are.",
      "Each group of shards is rewritten by a task and replaced by a commit of its own: what a run"
          + " finished is kept. Another order is written by tasks and committed as one version. The standard"
          + " output has one line of JSON."
    },
    exitCodeList = {
      "0:done, or nothing was to be done",
      "1:data that are needed for planning, or for another order, are damaged",
      "2:called wrongly, or no such table or field",
      "3:some groups stayed as they were, or it failed otherwise"
    })
final class RebalanceJob extends SparkJob {
  @Mixin
  private RebalanceArguments arguments = new RebalanceArguments();

  @Mixin
  private RelayoutArguments relayout = new RelayoutArguments();

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description =
          "number of groups or new shards that are written at once (default: the cores of "
              + "the executors that exist when the job begins, or spark.default.parallelism)")
  private @Nullable Integer concurrency;

  @Override
  public Integer call() {
    SparkSession spark = SparkSession.builder().getOrCreate();
    JobConcurrency jobs =
        concurrency == null ? JobConcurrency.of(spark) : new JobConcurrency(concurrency);
    if (relayout.isAsked()) {
      return new RelayoutRun(commandLine(), relayout, RebalanceArguments.Form.JSON)
          .run(
              SparkStorages.storageFor(path()),
              arguments.options(),
              run -> RelayoutJobs.onSpark(run, spark, jobs));
    }
    RecordTable table = RecordTable.at(SparkStorages.storageFor(path()));
    RebalancePlan plan = RebalancePlan.of(table.latest(), arguments.options());
    return arguments.run(
        plan, RewriteJobs.rebalance(spark, plan, jobs), RebalanceArguments.Form.JSON, out(), err());
  }
}
