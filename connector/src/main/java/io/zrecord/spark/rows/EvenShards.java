package io.zrecord.spark.rows;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import org.apache.spark.sql.SparkSession;

/** Looks whether tasks that each read whole shards have about equally much to do. Stateless. */
final class EvenShards {
  private EvenShards() {}

  /** Tells whether no shard has more records than one task of many would have. */
  static boolean are(TableSnapshot version) {
    long tasks = 2L * SparkSession.active().sparkContext().defaultParallelism();
    long most = version.shards().stream().mapToLong(ShardSummary::length).max().orElse(0);
    return most <= version.length() / tasks;
  }
}
