package io.zrecord.cli.maintenance;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Progress;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The arguments and the output shared by all commands that rebalance, wherever the rebalance runs.
 * Belongs to one thread.
 */
public final class RebalanceArguments {
  private static final RebalanceOptions DEFAULTS = RebalanceOptions.defaults();

  @Option(
      names = "--min-utilization",
      paramLabel = "PART",
      description = "share of live bytes below which a shard is rewritten (default 0.8)")
  private double minUtilization = DEFAULTS.minUtilization();

  @Option(
      names = "--min-shard-bytes",
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description =
          "size below which neighbouring shards are joined (default 64m, or the target if "
              + "that is less)")
  private @Nullable Long minShardBytes;

  @Option(
      names = "--target-shard-bytes",
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description = "size of new shards (default 1g)")
  private long targetShardBytes = DEFAULTS.targetShardBytes();

  @Mixin
  private LayoutArguments layout = new LayoutArguments();

  @Option(
      names = "--all",
      description =
          "rewrite all shards, whatever their state, to give them another layout; not with --max-bytes")
  private boolean isOfAllShards;

  @Option(
      names = {"--max-bytes", "--max-bytes-per-run"},
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description =
          "bytes of a run, after which no further group of shards is begun (default: no bound)")
  private long maxRunBytes = DEFAULTS.maxRunBytes();

  @Option(
      names = "--indices",
      paramLabel = "FROM-TO",
      description = "range of records, TO excluded: only shards within it are rewritten")
  private @Nullable String indices;

  @Option(
      names = "--compression",
      paramLabel = "FIELD=CODEC",
      description = "compression that a field gets: --compression text=zstd:9; may be repeated")
  private Map<String, String> compression = new HashMap<>();

  @Option(names = "--dry-run", description = "say only what would be rewritten")
  private boolean isDryRun;

  @Option(names = "--no-progress", description = "hide the progress bar")
  private boolean isQuiet;

  /** The form in which a result is printed. */
  public enum Form {
    /** Text for people. */
    TEXT,
    /** One JSON object on one line. Everything else for people goes to the standard error. */
    JSON
  }

  public boolean isDryRun() {
    return isDryRun;
  }

  public boolean showsProgress() {
    return !isQuiet;
  }

  /**
   * Returns the rebalance that the arguments ask for.
   *
   * @throws IllegalArgumentException if an argument is out of its range
   */
  public RebalanceOptions options() {
    Map<String, Compression> compressions = new HashMap<>();
    compression.forEach((field, codec) -> compressions.put(field, Compression.parse(codec)));
    long least = minShardBytes == null
        ? Math.min(DEFAULTS.minShardBytes(), targetShardBytes)
        : minShardBytes;
    RebalanceOptions options = DEFAULTS
        .withMinUtilization(minUtilization)
        .withShardBytes(least, targetShardBytes)
        .withMaxRunBytes(maxRunBytes)
        .withCompression(compressions)
        .withWrite(layout.options());
    if (isOfAllShards) {
      options = options.withAllShards();
    }
    if (indices == null) {
      return options;
    }
    String[] ends = indices.split("-", 2);
    try {
      return options.withIndices(Long.parseLong(ends[0]), Long.parseLong(ends[1]));
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "--indices is '" + indices + "'; give two numbers such as 0-1000000", e);
    }
  }

  /**
   * Prints the plan if only the plan is wanted. Otherwise runs the rebalance, shows its progress,
   * and prints the result.
   *
   * @param rebalance the rebalance of the plan
   * @return the exit code: 0, or 3 if a group stayed as it was
   */
  public int run(
      RebalancePlan plan, TableRebalance rebalance, Form form, PrintWriter out, PrintWriter err) {
    if (isDryRun) {
      print(plan, form, out, err);
      return ExitCodes.DONE;
    }
    RebalanceResult result;
    try (Progress progress = Progress.of("rebalance", err, !isQuiet)) {
      double bytesPerRecord = (double) plan.valueBytes() / Math.max(1, plan.recordCount());
      result = rebalance
          .onRecords(done -> {
            synchronized (progress) {
              progress.at((long) (done * bytesPerRecord), plan.valueBytes());
            }
          })
          .run();
    }
    print(result, form, out, err);
    return result.failures().isEmpty() ? ExitCodes.DONE : ExitCodes.FAILED;
  }

  private static void print(RebalancePlan plan, Form form, PrintWriter out, PrintWriter err) {
    PrintWriter people = form == Form.TEXT ? out : err;
    plan.groups().forEach(group -> people.println("would rewrite " + group));
    if (form == Form.JSON) {
      out.println(plan.toJson());
    } else if (plan.groups().isEmpty()) {
      out.println("nothing to rewrite");
    } else {
      out.println("together " + plan.recordCount() + " records, " + plan.chunkBytes() + " bytes"
          + leftOver(plan.isCutShort()));
    }
    people.flush();
    out.flush();
  }

  private static void print(RebalanceResult result, Form form, PrintWriter out, PrintWriter err) {
    if (form == Form.JSON) {
      out.println(result.toJson());
    } else {
      RebalanceResult.Extent before = result.before();
      RebalanceResult.Extent after = result.after();
      out.println("rewrote " + result.records() + " records: " + before.shards() + " shards of "
          + before.chunkBytes() + " bytes became " + after.shards() + " of " + after.chunkBytes()
          + leftOver(result.isCutShort()));
    }
    result
        .failures()
        .forEach(failure -> err.println("records " + failure.firstIndex() + " to "
            + (failure.firstIndex() + failure.records() - 1) + " stay as they are: "
            + Printable.of(failure.reason())));
    out.flush();
    err.flush();
  }

  private static String leftOver(boolean isCutShort) {
    return isCutShort ? "; more is left for a later run" : "";
  }
}
