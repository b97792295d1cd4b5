package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.rebalance.Rebalance;
import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.StoreRebalanceOptions;
import io.zrecord.schema.Compression;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Rewrites what is badly laid out. */
@Command(
    name = "rebalance",
    description = {
      "Joins small shards of a table, and rewrites those with many dead bytes or another compression"
          + " than wanted. No index ever names another record; versions before stay as they are.",
      "Each group of shards is replaced by a commit of its own: what a run finished is kept.",
      "A store is rewritten beside itself, if it is worth it, and the new files take the place of the old"
          + " ones at once. No writer may have it open; readers go on."
    })
final class RebalanceCommand extends Subcommand {
  private static final RebalanceOptions DEFAULTS = RebalanceOptions.defaults();

  @Parameters(paramLabel = "PATH", description = "directory of the table or the store")
  private Path path = Path.of("");

  @Option(
      names = "--min-utilization",
      paramLabel = "PART",
      description = "rewrite shards of whose bytes less than this part is alive (default 0.8)")
  private double minUtilization = DEFAULTS.minUtilization();

  @Option(
      names = "--min-shard-bytes",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "join neighbouring shards that are smaller (default 64m)")
  private long minShardBytes = DEFAULTS.minShardBytes();

  @Option(
      names = "--target-shard-bytes",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "size of new shards (default 1g)")
  private long targetShardBytes = DEFAULTS.targetShardBytes();

  @Option(
      names = "--chunk-bytes",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "size of new chunks (default 256m)")
  private long chunkBytes = WriteOptions.defaults().chunkBytes();

  @Option(
      names = "--stripe-bytes",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "values written out together; memory of a thread (default 32m)")
  private long stripeBytes = WriteOptions.defaults().stripeBytes();

  @Option(
      names = "--max-bytes",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description = "rewrite at most about so many bytes in this run")
  private long maxRunBytes = DEFAULTS.maxRunBytes();

  @Option(
      names = "--indices",
      paramLabel = "FROM-TO",
      description = "only shards whose records are all from FROM to TO, TO excluded")
  private @Nullable String indices;

  @Option(
      names = "--compression",
      paramLabel = "FIELD=CODEC",
      description = "give a field another compression: --compression text=zstd:9")
  private Map<String, String> compression = new HashMap<>();

  @Option(names = "--threads", paramLabel = "N", description = "groups that are rewritten at once")
  private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());

  @Option(names = "--dry-run", description = "only say what would be rewritten")
  private boolean isDryRun;

  @Option(names = "--json", description = "print one line of JSON")
  private boolean isJson;

  @Option(names = "--no-progress", description = "do not show how far it is")
  private boolean isQuiet;

  @Override
  public Integer call() throws IOException {
    if (DatasetKind.of(path) == DatasetKind.STORE) {
      return rebalanceStore();
    }
    RebalancePlan plan =
        RebalancePlan.of(RecordTable.at(LocalStorage.at(path)).latest(), options());
    if (isDryRun) {
      print(plan);
      return ExitCodes.DONE;
    }
    RebalanceResult result;
    try (Progress progress = Progress.of("rebalance", err(), !isQuiet)) {
      long records = Math.max(1, plan.recordCount());
      double bytesPerRecord = (double) plan.valueBytes() / records;
      result = Rebalance.of(plan)
          .threads(threads)
          .properties(Map.of("tool", "zrecord rebalance"))
          .onRecords(done -> {
            synchronized (progress) {
              progress.at((long) (done * bytesPerRecord), plan.valueBytes());
            }
          })
          .run();
    }
    print(result);
    return result.failures().isEmpty() ? ExitCodes.DONE : ExitCodes.FAILED;
  }

  private int rebalanceStore() {
    if (indices != null || maxRunBytes != DEFAULTS.maxRunBytes()) {
      throw misuse("--indices and --max-bytes are for tables; " + path
          + " is a store, which is rewritten whole");
    }
    StoreRebalanceOptions options =
        new StoreRebalanceOptions(minUtilization, chunkBytes, stripeBytes, compressions());
    StoreRebalancing rebalancing = new StoreRebalancing(out(), err(), isJson);
    if (isDryRun) {
      rebalancing.plan(path, options);
    } else {
      rebalancing.run(path, options, !isQuiet);
    }
    return ExitCodes.DONE;
  }

  private Map<String, Compression> compressions() {
    Map<String, Compression> compressions = new HashMap<>();
    compression.forEach((field, codec) -> compressions.put(field, Compression.parse(codec)));
    return compressions;
  }

  private RebalanceOptions options() {
    RebalanceOptions options = DEFAULTS
        .withMinUtilization(minUtilization)
        .withShardBytes(minShardBytes, targetShardBytes)
        .withMaxRunBytes(maxRunBytes)
        .withCompression(compressions())
        .withWrite(WriteOptions.defaults().withChunkBytes(chunkBytes).withStripeBytes(stripeBytes));
    if (indices == null) {
      return options;
    }
    String[] ends = indices.split("-", -1);
    try {
      return options.withIndices(Long.parseLong(ends[0]), Long.parseLong(ends[1]));
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw misuse("--indices is '" + indices + "'; give two numbers such as 0-1000000");
    }
  }

  private void print(RebalancePlan plan) {
    if (isJson) {
      ObjectNode node = ValueJson.MAPPER
          .createObjectNode()
          .put("version", plan.snapshot().version())
          .put("groups", plan.groups().size())
          .put("records", plan.recordCount())
          .put("valueBytes", plan.valueBytes())
          .put("chunkBytes", plan.chunkBytes())
          .put("cutShort", plan.isCutShort());
      out().println(node);
    } else {
      for (RebalanceGroup group : plan.groups()) {
        out()
            .println("would rewrite " + group.shards().size() + " shards, records "
                + group.firstIndex() + " to " + (group.firstIndex() + group.recordCount() - 1)
                + ", " + group.chunkBytes() + " bytes: "
                + group.reasons().toString().toLowerCase(Locale.ROOT));
      }
      out()
          .println(
              plan.groups().isEmpty()
                  ? "nothing to rewrite"
                  : "together " + plan.recordCount() + " records, " + plan.chunkBytes() + " bytes"
                      + (plan.isCutShort() ? "; more is left for a later run" : ""));
    }
    out().flush();
  }

  private void print(RebalanceResult result) {
    if (isJson) {
      out().println(json(result));
    } else {
      out()
          .println("rewrote " + result.records() + " records: " + result.shardsBefore()
              + " shards of "
              + result.before() + " bytes became " + result.shardsAfter() + " of " + result.after()
              + (result.isCutShort() ? "; more is left for a later run" : ""));
      result
          .failures()
          .forEach(failure -> err()
              .println("records " + failure.firstIndex() + " to "
                  + (failure.firstIndex() + failure.records() - 1) + " stay as they are: "
                  + Printable.of(failure.reason())));
    }
    out().flush();
    err().flush();
  }

  private static ObjectNode json(RebalanceResult result) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("groups", result.groups())
        .put("records", result.records())
        .put("valueBytes", result.valueBytes())
        .put("chunkBytesBefore", result.before())
        .put("chunkBytesAfter", result.after())
        .put("shardsBefore", result.shardsBefore())
        .put("shardsAfter", result.shardsAfter())
        .put("cutShort", result.isCutShort());
    result
        .failures()
        .forEach(failure -> node.withArray("failures")
            .addObject()
            .put("firstIndex", failure.firstIndex())
            .put("records", failure.records())
            .put("reason", failure.reason()));
    return node;
  }
}
