package io.zrecord.examples;

import static org.apache.spark.sql.functions.col;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Fetches records by their index. The condition is answered from the metadata: exactly those
 * records are read, and nothing is searched. Argument: the path of a dataset that
 * {@link WriteDataset} wrote.
 */
public final class ReadByIndex {
  private ReadByIndex() {}

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("by index").getOrCreate();
    Dataset<Row> records = spark.read().format("zrecord").load(args[0]);

    List<String> texts = records
        .where(col("_index").isin(999, 3, 500))
        .orderBy("_index")
        .select("text")
        .as(Encoders.STRING())
        .collectAsList();
    Check.equal(
        "records 3, 500, 999",
        List.of("this is record 3", "this is record 500", "this is record 999"),
        texts);

    // A metadata column is in the result if it is selected by name.
    long wrong = records
        .select("_index", "id")
        .where("_index between 100 and 199 and id != _index")
        .count();
    Check.equal("records whose index is not their id", 0L, wrong);
    Check.equal(
        "records 100 to 199", 100L, records.where("_index between 100 and 199").count());
    spark.stop();
  }
}
