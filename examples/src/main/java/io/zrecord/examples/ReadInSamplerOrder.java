package io.zrecord.examples;

import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Reads the share of one of two training processes in a shuffled epoch, as a feed does without
 * Spark. The records come in the order of the engine's sampler, and one partition at a time is in
 * memory. Argument: the path of a dataset that {@link WriteDataset} wrote.
 */
public final class ReadInSamplerOrder {
  private ReadInSamplerOrder() {}

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("in sampler order").getOrCreate();
    Dataset<Row> share = spark
        .read()
        .format("zrecord")
        .option("sampler", "shuffle")
        .option("seed", 42)
        .option("epoch", 3)
        .option("rank", 1)
        .option("worldSize", 2)
        .option("numPartitions", 10)
        .load(args[0]);

    List<Long> read = new ArrayList<>();
    Iterator<Long> rows = share.select("id").as(Encoders.LONG()).toLocalIterator();
    while (rows.hasNext()) {
      read.add(rows.next());
    }

    Sampler order = Samplers.shuffle(1000, 42).share(1, 2, Remainder.DROP);
    List<Long> expected = new ArrayList<>();
    for (long position = 0; position < order.length(); position++) {
      expected.add(order.index(3, position));
    }
    Check.equal("records of rank 1", 500L, share.count());
    Check.equal("in the order of the sampler", true, expected.equals(read));
    spark.stop();
  }
}
