package io.zrecord.spark.job;

import io.zrecord.rebalance.RelayoutPlan;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * An order by a field that Spark found: the old indices in the new order. Tasks wrote the indices
 * to shards that no version names. The driver knows only the lengths of these shards. The shards
 * take 8 bytes a record until this object is closed. Immutable.
 */
final class SortedOrder implements AutoCloseable {
  private static final String NEW = "new";
  private static final StructType PLACES = new StructType()
      .add(KeySort.OLD, DataTypes.LongType, false)
      .add(NEW, DataTypes.LongType, false);

  private final SparkSession spark;
  private final Storage storage;
  private final WriteOptions options;
  private final List<RangeOrder> parts;

  private SortedOrder(
      SparkSession spark, Storage storage, WriteOptions options, List<RangeOrder> parts) {
    this.spark = spark;
    this.storage = storage;
    this.options = options;
    this.parts = parts;
  }

  /**
   * Sorts the records.
   *
   * @throws IllegalArgumentException if Spark cannot sort by the field
   */
  static SortedOrder of(
      SparkSession spark, RelayoutPlan plan, RecordOrder.ByField order, TaskJobs jobs) {
    KeySort.requireSortable(order);
    TableSnapshot snapshot = plan.snapshot();
    Storage storage = snapshot.storage();
    WriteOptions options = plan.options().write();
    IndexTask task = new IndexTask(
        TableLocation.of(storage), IndexTask.Kind.ORDER, options.withDurability(Durability.NONE));
    List<ShardSummary> shards = jobs.run(
        () -> KeySort.sorted(spark, snapshot, order).javaRDD().mapPartitions(task),
        "sort by " + order);
    List<RangeOrder> parts = new ArrayList<>();
    long first = 0;
    for (ShardSummary shard : shards) {
      parts.add(new RangeOrder(
          new RelayoutPlan.Range(first, first + shard.length()), List.of(shard), first));
      first += shard.length();
    }
    SortedOrder sorted = new SortedOrder(spark, storage, options, parts);
    if (first != snapshot.length()) {
      sorted.close();
      throw new IllegalStateException(
          "Spark sorted " + first + " of the " + snapshot.length() + " records of " + snapshot);
    }
    return sorted;
  }

  /** Returns the part of the order that a range needs. */
  RangeOrder within(RelayoutPlan.Range range) {
    List<RangeOrder> needed = parts.stream()
        .filter(part -> part.range().to() > range.from() && part.range().from() < range.to())
        .toList();
    return new RangeOrder(
        range,
        needed.stream().flatMap(part -> part.sorted().stream()).toList(),
        needed.get(0).firstSorted());
  }

  /**
   * Writes the index map: sorts the indices again, by the old ones, and writes them in one task.
   */
  List<ShardSummary> writeMap(TaskJobs jobs) {
    TableLocation location = TableLocation.of(storage);
    List<byte[]> messages = parts.stream().map(ObjectBytes::of).toList();
    IndexTask task = new IndexTask(location, IndexTask.Kind.MAP, options);
    JavaRDD<Row> places = JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(messages, messages.size())
        .flatMap(part -> new Places(location, ObjectBytes.read(part, RangeOrder.class)));
    Dataset<Row> map = spark
        .createDataFrame(places, PLACES)
        .repartition(1)
        .sortWithinPartitions(functions.col(KeySort.OLD))
        .select(functions.col(NEW), functions.col(KeySort.OLD));
    return jobs.run(() -> map.javaRDD().mapPartitions(task), "index map");
  }

  /** Deletes the shards of the order. */
  @Override
  public void close() {
    RecordTable.at(storage)
        .discard(parts.stream().flatMap(part -> part.sorted().stream()).toList());
  }
}
