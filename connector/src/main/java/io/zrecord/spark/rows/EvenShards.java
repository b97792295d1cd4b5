package io.zrecord.spark.rows;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import org.apache.spark.sql.SparkSession;

/**
 * Looks whether tasks that each read whole shards take less time than tasks of equal size with a
 * shuffle behind them. Stateless.
 */
final class EvenShards {
  /**
   * The largest shard that needs no shuffle, in parts of the table that one processor has. Waiting
   * for the task of such a shard takes less time than shuffling all rows.
   */
  private static final double MOST_PARTS = 1.25;

  private EvenShards() {}

  /** Tells whether no shard has many more records than the part of one processor. */
  static boolean are(TableSnapshot version) {
    int processors = SparkSession.active().sparkContext().defaultParallelism();
    long most = version.shards().stream().mapToLong(ShardSummary::length).max().orElse(0);
    return most <= MOST_PARTS * version.length() / processors;
  }
}
