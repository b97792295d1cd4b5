package io.zrecord.spark.procedure;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.schema.Compression;
import io.zrecord.spark.job.RewriteJobs;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Rewrites shards that are worth the work. */
final class RebalanceProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "rebalance";
  }

  @Override
  public String description() {
    return "Joins small shards of a table, and rewrites those with many dead bytes. Indices stay.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.optional(
            "min_utilization",
            DataTypes.DoubleType,
            "share of live bytes below which a shard is rewritten, 0 to 1; 0.8 if NULL"),
        Parameter.optional(
            "min_shard_bytes",
            DataTypes.LongType,
            "size below which neighbouring shards are joined; 64 MiB if NULL"),
        Parameter.optional(
            "target_shard_bytes", DataTypes.LongType, "size of new shards; 1 GiB if NULL"),
        Parameter.optional(
            "max_bytes",
            DataTypes.LongType,
            "bytes after which no further group is begun; no bound if NULL"),
        Parameter.optional(
            "compression",
            MapArgument.TYPE,
            "compression that fields get, such as map('text', 'zstd:9')"),
        Parameter.flag("all_shards", false, "rewrite all shards, whatever their state"),
        Parameter.optional(
            "concurrency",
            DataTypes.IntegerType,
            "groups that are rewritten at once, 1 to 1,000; the cores of the executors if NULL"),
        Parameter.flag("dry_run", false, "say only what would be rewritten"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("dry_run", DataTypes.BooleanType, false)
        .add("groups", DataTypes.IntegerType, false)
        .add("records", DataTypes.LongType, false)
        .add("shards_before", DataTypes.IntegerType, false)
        .add("shards_after", DataTypes.IntegerType, true)
        .add("bytes_before", DataTypes.LongType, false)
        .add("bytes_after", DataTypes.LongType, true)
        .add("cut_short", DataTypes.BooleanType, false)
        .add("failures", DataTypes.createArrayType(DataTypes.StringType, false), false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    boolean isDry = arguments.flag("dry_run");
    RebalancePlan plan = RebalancePlan.of(arguments.table().latest(), options(arguments));
    if (isDry) {
      return List.<Object[]>of(new Object[] {
        true,
        plan.groups().size(),
        plan.recordCount(),
        plan.groups().stream().mapToInt(group -> group.shards().size()).sum(),
        null,
        plan.chunkBytes(),
        null,
        plan.isCutShort(),
        new Object[0]
      });
    }
    RebalanceResult result =
        RewriteJobs.rebalance(arguments.spark(), plan, arguments.concurrency()).run();
    return List.<Object[]>of(new Object[] {
      false,
      result.groups(),
      result.records(),
      result.before().shards(),
      result.after().shards(),
      result.before().chunkBytes(),
      result.after().chunkBytes(),
      result.isCutShort(),
      result.failures().stream().map(RebalanceProcedure::text).toArray()
    });
  }

  private static RebalanceOptions options(Arguments arguments) {
    RebalanceOptions options = RebalanceOptions.defaults();
    Optional<Double> utilization = arguments.optionalDouble("min_utilization");
    if (utilization.isPresent()) {
      options = options.withMinUtilization(utilization.get());
    }
    long target = arguments.optionalLong("target_shard_bytes").orElse(options.targetShardBytes());
    long least =
        arguments.optionalLong("min_shard_bytes").orElse(Math.min(options.minShardBytes(), target));
    options = options.withShardBytes(least, target);
    Optional<Long> most = arguments.optionalLong("max_bytes");
    if (most.isPresent()) {
      options = options.withMaxRunBytes(most.get());
    }
    Map<String, Compression> compression = new HashMap<>();
    arguments
        .map("compression")
        .forEach((field, codec) -> compression.put(field, Compression.parse(codec)));
    options = options.withCompression(compression);
    return arguments.flag("all_shards") ? options.withAllShards() : options;
  }

  private static String text(RebalanceResult.Failure failure) {
    return "records " + failure.firstIndex() + " to "
        + (failure.firstIndex() + failure.records() - 1) + ": " + failure.reason();
  }
}
