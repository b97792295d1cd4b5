package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.maintenance.RebalanceArguments;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.store.StoreRebalance;
import io.zrecord.store.StoreRebalanceOptions;
import io.zrecord.store.StoreRebalancePlan;
import io.zrecord.store.StoreRebalanceResult;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;

/** Runs the rebalance of a store on the command line, and prints text or one line of JSON. */
final class StoreRebalancing {
  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean isJson;

  StoreRebalancing(PrintWriter out, PrintWriter err, boolean isJson) {
    this.out = out;
    this.err = err;
    this.isJson = isJson;
  }

  /** Runs the rebalance and returns the exit code. */
  int run(Path path, RebalanceArguments arguments) {
    RebalanceOptions asked = arguments.options();
    StoreRebalanceOptions options = new StoreRebalanceOptions(
        asked.minUtilization(),
        asked.write().chunkBytes(),
        asked.write().stripeBytes(),
        asked.compression());
    if (arguments.isDryRun()) {
      plan(path, options);
    } else {
      run(path, options, arguments.showsProgress());
    }
    return ExitCodes.DONE;
  }

  private void plan(Path path, StoreRebalanceOptions options) {
    StoreRebalancePlan plan = StoreRebalance.of(path, options).plan();
    if (isJson) {
      out.println(json(plan));
    } else if (plan.isWorthwhile()) {
      out.println("would rewrite " + describe(plan) + "; needs " + plan.neededBytes() + " bytes: "
          + plan.reasons().toString().toLowerCase(Locale.ROOT));
    } else {
      out.println("nothing to rewrite: " + describe(plan));
    }
    out.flush();
  }

  private void run(Path path, StoreRebalanceOptions options, boolean showsProgress) {
    StoreRebalance rebalance = StoreRebalance.of(path, options);
    StoreRebalanceResult result;
    try (Progress progress = Progress.of("rebalance", err, showsProgress)) {
      long total = rebalance.plan().valueBytes();
      result =
          rebalance.onBytes(done -> progress.at(done, Math.max(done, total))).run();
    }
    if (isJson) {
      out.println(json(result.before())
          .put("rewritten", result.isRewritten())
          .put("chunkBytesAfter", result.chunkBytesAfter())
          .put("chunksAfter", result.chunksAfter()));
    } else if (result.isRewritten()) {
      out.println("rewrote " + describe(result.before()) + "; they became " + result.chunksAfter()
          + " chunks of " + result.chunkBytesAfter() + " bytes");
    } else {
      out.println("nothing to rewrite: " + describe(result.before()));
    }
    out.flush();
  }

  private static String describe(StoreRebalancePlan plan) {
    return String.format(
        Locale.ROOT,
        "%d records in %d chunks of %d bytes, %.1f %% of them alive, %d values scattered",
        plan.records(),
        plan.chunks(),
        plan.chunkBytes(),
        100 * plan.utilization(),
        plan.scatteredValues());
  }

  private static ObjectNode json(StoreRebalancePlan plan) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("records", plan.records())
        .put("valueBytes", plan.valueBytes())
        .put("utilization", plan.utilization())
        .put("chunkBytes", plan.chunkBytes())
        .put("chunks", plan.chunks())
        .put("scatteredValues", plan.scatteredValues())
        .put("neededBytes", plan.neededBytes());
    node.putArray("reasons");
    plan.reasons().stream()
        .sorted()
        .forEach(reason -> node.withArray("reasons").add(reason.name().toLowerCase(Locale.ROOT)));
    return node;
  }
}
