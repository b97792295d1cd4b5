package io.zrecord.spark;

import io.zrecord.cli.RebalanceArguments;
import io.zrecord.rebalance.RebalancePlan;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command behind {@link Rebalance#main}. */
@Command(
    name = "spark-submit --class io.zrecord.spark.Rebalance JAR",
    description = {
      "Joins small shards of a table, and rewrites those with many dead bytes or another compression"
          + " than wanted. No index ever names another record; versions before stay as they are.",
      "Each group of shards is rewritten by a task and replaced by a commit of its own: what a run"
          + " finished is kept. The standard output has one line of JSON."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, or nothing was to be done",
      "1:data that are needed for planning are damaged",
      "2:called wrongly, or no such table or field",
      "3:some groups stayed as they were, or it failed otherwise"
    })
final class RebalanceJob implements Callable<Integer> {
  @Parameters(paramLabel = "PATH", description = "path of the table, as in load(PATH)")
  private String path = "";

  @Mixin
  private RebalanceArguments arguments = new RebalanceArguments();

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "groups that are rewritten at once (default spark.default.parallelism)")
  private @Nullable Integer concurrency;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this")
  @SuppressWarnings("unused") // The parser looks at the option itself.
  private boolean printsHelp;

  @Spec
  @SuppressWarnings("NullAway.Init")
  private CommandSpec spec;

  @Override
  public Integer call() {
    Rebalance rebalance =
        Rebalance.of(SparkSession.builder().getOrCreate(), path).options(arguments.options());
    if (concurrency != null) {
      rebalance.concurrency(concurrency);
    }
    RebalancePlan plan = rebalance.plan();
    return arguments.run(
        plan,
        rebalance.prepare(plan),
        RebalanceArguments.Form.JSON,
        spec.commandLine().getOut(),
        spec.commandLine().getErr());
  }
}
