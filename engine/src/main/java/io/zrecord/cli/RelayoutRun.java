package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RecordOrder;
import io.zrecord.rebalance.Relayout;
import io.zrecord.rebalance.RelayoutResult;
import io.zrecord.storage.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetKind;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Puts the records of a table into another order, for {@code rebalance}. */
final class RelayoutRun {
  /** Other options of the command say which shards are rewritten, and here all are. */
  private static final Set<String> FITTING = Set.of(
      "--order-by",
      "--shuffle",
      "--change-indices",
      "--target-shard-bytes",
      "--target-chunk-bytes",
      "--stripe-bytes",
      "--align-bytes",
      "--threads",
      "--dry-run",
      "--json",
      "--no-progress",
      "--stacktrace");

  private final CommandLine command;
  private final Path path;
  private final RelayoutArguments arguments;

  RelayoutRun(CommandLine command, Path path, RelayoutArguments arguments) {
    this.command = command;
    this.path = path;
    this.arguments = arguments;
  }

  /** Returns the exit code. */
  int run(RebalanceOptions options, int threads) {
    RecordOrder order = order();
    if (DatasetKind.of(path) == DatasetKind.STORE) {
      throw misuse(
          path + " is a store, whose order is that of its writer; make a table of it first,"
              + " by StoreSnapshot.create or an append of Spark, and put that into another order");
    }
    TableSnapshot snapshot = RecordTable.at(LocalStorage.at(path)).latest();
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
      long bytes = snapshot.shards().stream()
          .flatMap(shard -> shard.valueBytes().values().stream())
          .mapToLong(Long::longValue)
          .sum();
      double bytesPerRecord = (double) bytes / Math.max(1, snapshot.length());
      result = Relayout.of(snapshot, order)
          .layout(options.write(), options.targetShardBytes())
          .threads(threads)
          .properties(Map.of("tool", "zrecord rebalance"))
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
    return ValueJson.MAPPER
        .createObjectNode()
        .put("version", snapshot.version())
        .put("order", order.toString())
        .put("records", snapshot.length());
  }

  private void print(String text, ObjectNode json) {
    PrintWriter out = command.getOut();
    out.println(isGiven("--json") ? json.toString() : Printable.of(text));
    out.flush();
  }
}
