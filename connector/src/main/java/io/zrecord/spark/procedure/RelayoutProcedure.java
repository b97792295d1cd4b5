package io.zrecord.spark.procedure;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RelayoutResult;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.Direction;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.spark.job.RelayoutJobs;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Writes all records in another order. */
final class RelayoutProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "relayout";
  }

  @Override
  public String description() {
    return "Writes all records of a table in another order. An index names another record afterwards.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.optional(
            "order_by",
            DataTypes.StringType,
            "column in whose order the records are written, absent values last"),
        Parameter.flag("descending", false, "whether large values come first"),
        Parameter.optional(
            "shuffle_seed", DataTypes.LongType, "seed of a random order, instead of order_by"),
        Parameter.optional(
            "target_shard_bytes", DataTypes.LongType, "size of new shards; 1 GiB if NULL"),
        Parameter.optional(
            "concurrency",
            DataTypes.IntegerType,
            "shards that are written at once, 1 to 1,000; the cores of the executors if NULL"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("version", DataTypes.LongType, false)
        .add("records", DataTypes.LongType, false)
        .add("shards_before", DataTypes.IntegerType, false)
        .add("shards_after", DataTypes.IntegerType, false)
        .add("bytes_before", DataTypes.LongType, false)
        .add("bytes_after", DataTypes.LongType, false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    RecordOrder order = order(arguments);
    RebalanceOptions layout = RebalanceOptions.defaults();
    TableRelayout relayout = TableRelayout.of(arguments.table().latest(), order)
        .layout(
            layout.write(),
            arguments.optionalLong("target_shard_bytes").orElse(layout.targetShardBytes()));
    RelayoutResult result = RelayoutJobs.onSpark(
            relayout, arguments.spark(), arguments.concurrency())
        .run();
    return List.<Object[]>of(new Object[] {
      result.snapshot().version(),
      result.records(),
      result.shardsBefore(),
      result.shardsAfter(),
      result.before(),
      result.after()
    });
  }

  private static RecordOrder order(Arguments arguments) {
    Optional<String> field = arguments.optionalText("order_by");
    Optional<Long> seed = arguments.optionalLong("shuffle_seed");
    boolean descends = arguments.flag("descending");
    if (field.isPresent() == seed.isPresent() || (descends && field.isEmpty())) {
      throw new IllegalArgumentException("A relayout needs either 'order_by', maybe with"
          + " 'descending', or 'shuffle_seed'; indices name other records afterwards");
    }
    return field.isPresent()
        ? RecordOrder.by(field.get(), descends ? Direction.DESCENDING : Direction.ASCENDING)
        : RecordOrder.shuffle(seed.get());
  }
}
