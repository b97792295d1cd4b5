package io.zrecord.examples;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.length;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;

/**
 * Reads what {@link WriteDataset} wrote, whole and by column. Argument: the path of the dataset.
 */
public final class ReadDataset {
  private ReadDataset() {}

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("read").getOrCreate();
    Dataset<Row> records = spark.read().format("zrecord").load(args[0]);
    records.printSchema();
    records.drop("image").show(5, false);

    // Only the bytes of the columns used are read.
    List<Row> threes = records
        .where(col("label").equalTo(3))
        .agg(count(lit(1)), sum(length(col("image"))))
        .collectAsList();
    Check.equal("records and bytes of label 3", List.of(RowFactory.create(100L, 78_400L)), threes);

    long[] shape = records.schema().apply("image").metadata().getLongArray("zrecord.shape");
    Check.equal("shape of an image", "[28, 28]", Arrays.toString(shape));

    long differing = records.except(WriteDataset.records(spark, 0, 1000)).count();
    Check.equal("records that are not as written", 0L, differing);
    spark.stop();
  }
}
