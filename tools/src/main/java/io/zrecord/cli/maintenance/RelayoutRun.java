package io.zrecord.cli.maintenance;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.DatasetKind;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.RelayoutResult;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.io.PrintWriter;
import java.util.Set;
import java.util.function.UnaryOperator;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Writes the records of a table in another order, for every command that rebalances, and prints the
 * result. For one run.
 */
public final class RelayoutRun {
  /**
   * Options that fit a relayout. Other options choose the shards to rewrite, and a relayout
   * rewrites all.
   */
  private static final Set<String> FITTING = Set.of(
      "--order-by",
      "--shuffle",
      "--change-indices",
      "--target-shard-bytes",
      "--target-chunk-bytes",
      "--stripe-bytes",
      "--align-bytes",
      "--block-bytes",
      "--transform",
      "--threads",
      "--concurrency",
      "--dry-run",
      "--json",
      "--no-progress",
      "--stacktrace");

  private final CommandLine command;
  private final RelayoutArguments arguments;
  private final RebalanceArguments.Form form;

  /**
   * Prepares a run.
   *
   * @param command the command as it was called
   */
  public RelayoutRun(
      CommandLine command, RelayoutArguments arguments, RebalanceArguments.Form form) {
    this.command = command;
    this.arguments = arguments;
    this.form = form;
  }

  /**
   * Writes the order, or prints what would be done. Writes nothing if there are no records.
   *
   * @param table storage of the table
   * @param options layout of new shards
   * @param preparing sets where and how the relayout runs
   * @return the exit code
   * @throws ParameterException if the command was called wrongly
   * @throws IllegalArgumentException if the order does not fit the records
   */
  public int run(Storage table, RebalanceOptions options, UnaryOperator<TableRelayout> preparing) {
    RecordOrder order = order();
    if (DatasetKind.of(table) == DatasetKind.STORE) {
      throw misuse(table.location()
          + " is a store, whose order is that of its writer; make a table of it first,"
          + " by StoreSnapshot.create or an append of Spark, and put that into another order");
    }
    TableSnapshot snapshot = RecordTable.at(table).latest();
    if (snapshot.length() == 0) {
      order.requireFits(snapshot.schema());
      print(
          "nothing to put into another order: " + snapshot + " has no records",
          json(snapshot, order));
      return ExitCodes.DONE;
    }
    RelayoutPlan plan = new RelayoutPlan(snapshot, order, options);
    if (isGiven("--dry-run")) {
      print(
          "would write " + snapshot.length() + " records by " + order + " as the version after "
              + snapshot.version(),
          json(snapshot, order));
      return ExitCodes.DONE;
    }
    RelayoutResult result;
    try (Progress progress =
        Progress.of("rebalance", command.getErr(), !isGiven("--no-progress"))) {
      long bytes = plan.valueBytes();
      double bytesPerRecord = (double) bytes / snapshot.length();
      TableRelayout relayout =
          TableRelayout.of(snapshot, order).layout(options.write(), options.targetShardBytes());
      result = preparing
          .apply(relayout)
          .onRecords(done -> {
            synchronized (progress) {
              progress.at((long) (done * bytesPerRecord), bytes);
            }
          })
          .run();
    }
    long version = result.snapshot().version();
    print(
        "wrote " + result.records() + " records by " + order + " as version " + version + ": "
            + result.shardsBefore() + " shards of " + result.before() + " bytes became "
            + result.shardsAfter() + " of " + result.after()
            + "; the indices of version " + (version - 1) + " are mapped to the new ones by "
            + result.indexMap(),
        json(result.snapshot(), order)
            .put("valueBytes", result.valueBytes())
            .put("chunkBytesBefore", result.before())
            .put("chunkBytesAfter", result.after())
            .put("shardsBefore", result.shardsBefore())
            .put("shardsAfter", result.shardsAfter())
            .put("indexMap", result.indexMap()));
    return ExitCodes.DONE;
  }

  private RecordOrder order() {
    RecordOrder order = arguments
        .order()
        .orElseThrow(
            () -> misuse("Give one of --order-by FIELD[:desc] and --shuffle SEED; without them no"
                + " index changes, and --change-indices has nothing to allow"));
    Subcommand.requireFitting(
        command, FITTING, "does not go with another order, which rewrites all records as they are");
    if (!arguments.allowsChange() && !isGiven("--dry-run")) {
      throw misuse("Another order changes indices: index 5 names another record afterwards, and"
          + " indices and positions of samplers and feeds that were saved elsewhere are those of the"
          + " version before. Give --change-indices if that is wanted; a map from the old indices to"
          + " the new ones is written beside the version");
    }
    return order;
  }

  private boolean isGiven(String option) {
    return command.getParseResult().hasMatchedOption(option);
  }

  private ParameterException misuse(String message) {
    return new ParameterException(command, message);
  }

  private static ObjectNode json(TableSnapshot snapshot, RecordOrder order) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("version", snapshot.version())
        .put("order", order.toString())
        .put("records", snapshot.length());
  }

  private void print(String text, ObjectNode json) {
    PrintWriter out = command.getOut();
    out.println(form == RebalanceArguments.Form.JSON ? json.toString() : Printable.of(text));
    out.flush();
  }
}
