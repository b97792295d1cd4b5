package io.zrecord.cli;

import io.zrecord.DatasetKind;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.cli.maintenance.RebalanceArguments;
import io.zrecord.cli.maintenance.RelayoutArguments;
import io.zrecord.cli.maintenance.RelayoutRun;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.table.RecordTable;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Rewrites badly laid out shards. */
@Command(
    name = "rebalance",
    description = {
      "Joins small shards of a table, and rewrites those with many dead bytes or another compression"
          + " than wanted. Indices keep their records, except with --order-by and --shuffle. Versions"
          + " before stay as they are.",
      "Each group of shards is replaced by a commit of its own: a run that is cut short keeps what it"
          + " finished.",
      "A store is rewritten beside itself if its utilization is low, and the new files replace the old"
          + " ones at once. No writer may have the store open. Readers continue."
    })
final class RebalanceCommand extends Subcommand {
  private static final Set<String> FITTING_A_STORE = Set.of(
      "--min-utilization",
      "--target-chunk-bytes",
      "--stripe-bytes",
      "--compression",
      "--dry-run",
      "--json",
      "--no-progress",
      "--stacktrace");

  @Parameters(paramLabel = "PATH", description = "directory of the table or the store")
  private DatasetLocation path = DatasetLocation.NONE;

  @Mixin
  private RebalanceArguments arguments = new RebalanceArguments();

  @Mixin
  private RelayoutArguments relayout = new RelayoutArguments();

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "number of groups that are rewritten at once")
  private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());

  @Option(names = "--json", description = "print one line of JSON")
  private boolean isJson;

  @Override
  public Integer call() {
    RebalanceArguments.Form form =
        isJson ? RebalanceArguments.Form.JSON : RebalanceArguments.Form.TEXT;
    Map<String, String> properties = Map.of("tool", "zrecord rebalance");
    DatasetKind kind = DatasetKind.of(path.storage());
    if (relayout.isAsked()) {
      return new RelayoutRun(commandLine(), relayout, form)
          .run(
              path.storage(),
              arguments.options(),
              run -> run.threads(threads).properties(properties));
    }
    if (kind == DatasetKind.STORE) {
      requireFitting(
          FITTING_A_STORE,
          "is for tables; " + path + " is a store, which is rewritten whole by one thread");
      return new StoreRebalancing(out(), err(), isJson).run(path.store(), arguments);
    }
    RebalancePlan plan =
        RebalancePlan.of(RecordTable.at(path.storage()).latest(), arguments.options());
    TableRebalance rebalance = TableRebalance.of(plan).threads(threads).properties(properties);
    return arguments.run(plan, rebalance, form, out(), err());
  }
}
