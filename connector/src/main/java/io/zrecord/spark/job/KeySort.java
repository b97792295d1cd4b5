package io.zrecord.spark.job;

import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.order.Direction;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.ZRecordInputPartition;
import io.zrecord.spark.scan.ZRecordScan;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Sorts the records of a version by a field, with Spark. Stateless; on the driver. */
public final class KeySort {
  /** Column of indices in the version. */
  static final String OLD = "old";

  /**
   * Length of the prefix of bytes and texts that decides how records are divided among tasks.
   * Spark's driver holds samples of the prefixes.
   */
  static final int PREFIX_BYTES = 64;

  private static final String KEY = "key";

  private KeySort() {}

  /**
   * Returns the old indices in the new order. Equal keys are ordered by index; NaN and then absent
   * values come last, in both directions.
   *
   * <p>The driver samples numbers, and the first {@value #PREFIX_BYTES} bytes of longer values, to
   * divide the records into ranges. One task sorts each range, on its disk if necessary. Records
   * whose longer values begin with the same bytes all come to the same task.
   *
   * @param order an order by a field that {@link #requireSortable} accepts
   */
  public static Dataset<Row> sorted(
      SparkSession spark, TableSnapshot snapshot, RecordOrder.ByField order) {
    FieldSpec field = snapshot.schema().fields().get(snapshot.schema().ordinal(order.field()));
    Column key = functions.col(KEY);
    Column old = functions.col(OLD);
    boolean isAscending = order.direction() == Direction.ASCENDING;
    List<Column> by = new ArrayList<>();
    by.add(key.isNull().asc());
    switch (field.type().kind()) {
      case F16, BF16, F32, F64 -> by.add(functions.isnan(key).asc());
      default -> {}
    }
    List<Column> ranges = new ArrayList<>(by);
    switch (field.type().kind()) {
      case BYTES, UTF8 -> {
        // Coarser than the order, but never against it: a longer value comes after its own prefix.
        Column isLonger = functions.length(key).gt(PREFIX_BYTES);
        ranges.add(directed(functions.substring(key, 1, PREFIX_BYTES), isAscending));
        ranges.add(directed(isLonger, isAscending));
        ranges.add(functions.when(isLonger, 0L).otherwise(old).asc());
      }
      default -> {
        ranges.add(directed(key, isAscending));
        ranges.add(old.asc());
      }
    }
    by.add(directed(key, isAscending));
    by.add(old.asc());
    return keys(spark, snapshot, snapshot.schema().ordinal(order.field()))
        .repartitionByRange(ranges.toArray(Column[]::new))
        .sortWithinPartitions(by.toArray(Column[]::new))
        .select(old);
  }

  /**
   * Refuses a field with the name of a metadata column, under which scans know something else.
   *
   * @throws IllegalArgumentException if the field has such a name
   */
  static void requireSortable(RecordOrder.ByField order) {
    if (MetadataColumns.NAMES.contains(order.field())) {
      throw new IllegalArgumentException(
          "Spark cannot order by the field '" + order.field()
              + "', which is the name of a metadata column; use 'zrecord rebalance --order-by' without Spark");
    }
  }

  private static Column directed(Column column, boolean isAscending) {
    return isAscending ? column.asc() : column.desc();
  }

  /**
   * Returns the values of a field with their indices. Does not use {@code spark.read()}, which
   * takes the session's defaults for options, such as a sampler, and ignores the case of names.
   */
  private static Dataset<Row> keys(SparkSession spark, TableSnapshot snapshot, int ordinal) {
    StructField field = SparkTypes.columnOf(snapshot.schema().fields().get(ordinal));
    ReadConf conf = ReadConf.ofNoOptions();
    ReadSettings settings = ReadSettings.ofAll(
            new StructType(new StructField[] {field})
                .add(MetadataColumns.INDEX, DataTypes.LongType, false),
            conf)
        .bare();
    ZRecordScan scan = new ZRecordScan(
        snapshot.storage().location(),
        new IndexOrder(List.of(snapshot)),
        IndexSet.range(0, snapshot.length()),
        settings,
        List.of(),
        conf.partitionCount());
    RecordSchema fields = IndexOrder.fields(snapshot, settings.columns());
    List<byte[]> partitions =
        Arrays.stream(scan.planInputPartitions()).map(ObjectBytes::of).toList();
    JavaRDD<Row> rows = JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(partitions, partitions.size())
        .flatMap(partition -> new KeyRows(
            ObjectBytes.read(partition, ZRecordInputPartition.class), fields, settings));
    DataType key = KeyRows.keyType(field.dataType());
    return spark.createDataFrame(
        rows, new StructType().add(KEY, key, true).add(OLD, DataTypes.LongType, false));
  }
}
