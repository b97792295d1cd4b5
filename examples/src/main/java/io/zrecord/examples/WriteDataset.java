package io.zrecord.examples;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/**
 * Writes 1,000 records of a number, a label, an image, a text and a vector; the other examples read
 * them. Argument: the path of the dataset.
 */
public final class WriteDataset {
  private WriteDataset() {}

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("write").getOrCreate();
    records(spark, 0, 1000)
        .write()
        .format("zrecord")
        .option("shape.image", "28,28") // the bytes are pixels: a u8 tensor
        .option("compression.text", "zstd:3") // images stay raw, which is the fastest to read
        .mode(SaveMode.Overwrite)
        .save(args[0]);
    Check.equal("records", 1000L, spark.read().format("zrecord").load(args[0]).count());
    spark.stop();
  }

  /** Returns records with the ids of a range. */
  static Dataset<Row> records(SparkSession spark, long first, long end) {
    return spark
        .range(first, end, 1, 4)
        .selectExpr(
            "id",
            "cast(id % 10 as int) as label",
            "unhex(repeat(lpad(hex(id % 256), 2, '0'), 784)) as image",
            "concat('this is record ', id) as text",
            "transform(sequence(0, 15), i -> cast(id + i as float)) as embedding");
  }
}
