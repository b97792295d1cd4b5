package io.zrecord.spark.byindex;

import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Rows with values of records of a version: some columns, and then the index of the record. Lives
 * on the driver.
 */
public final class RowsByIndex {
  private static final String PARTITIONS = "spark.sql.shuffle.partitions";

  private final SparkSession spark;
  private final TableSnapshot base;
  private final Dataset<Row> values;
  private final StructType columns;

  /**
   * Takes rows.
   *
   * @param values the columns, and after them {@code _index} as a {@code bigint}
   */
  public RowsByIndex(SparkSession spark, TableSnapshot base, Dataset<Row> values) {
    this.spark = spark;
    this.base = base;
    this.values = values;
    StructType all = values.schema();
    this.columns = new StructType(Arrays.copyOf(all.fields(), all.length() - 1));
  }

  /** Returns the columns without the index. */
  public StructType columns() {
    return columns;
  }

  /** Returns the version whose records the rows are of. */
  TableSnapshot base() {
    return base;
  }

  SparkSession spark() {
    return spark;
  }

  /**
   * Returns the rows in the order of the index, those of one shard in one partition. Sorting is
   * Spark's, which spills to disks. No row is held on the driver.
   */
  public JavaRDD<InternalRow> byShard() {
    Column index = functions.col(MetadataColumns.INDEX);
    Column shard = functions.udf(new FirstOfShard(base), DataTypes.LongType).apply(index);
    int partitions = Math.min(
        Integer.parseInt(spark.conf().get(PARTITIONS, "200")),
        Math.max(1, base.shards().size()));
    List<Column> row = new ArrayList<>();
    for (String name : columns.fieldNames()) {
      row.add(functions.col('`' + name.replace("`", "``") + '`'));
    }
    row.add(index);
    return values
        .withColumn(MetadataColumns.SHARD, shard)
        .repartition(partitions, functions.col(MetadataColumns.SHARD))
        .sortWithinPartitions(index)
        .select(row.toArray(Column[]::new))
        .queryExecution()
        .toRdd()
        .toJavaRDD();
  }
}
