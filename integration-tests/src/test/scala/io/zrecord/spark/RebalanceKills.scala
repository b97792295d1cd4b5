package io.zrecord.spark

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.schema.Compression
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

/** How many of the kills of rebalances are those of drivers and of executors (docs/PROOFS.md), and
  * tables for them.
  */
object RebalanceKills {
  private val Mib = 1L << 20

  /** Of 50 kills, drivers have three, executors have three and the process on one machine the rest.
    */
  val each: Int =
    math.max(1, Integer.getInteger("zrecord.test.rebalanceKills", 50).intValue * 3 / 50)
  val seed: Long = java.lang.Long.getLong("zrecord.test.seed", 20261121L).longValue

  /** Shards of a little more than 1 MiB, of 50 records. */
  def shards(spark: SparkSession, count: Int): DataFrame =
    spark
      .range(0, count * 50L, 1, count)
      .selectExpr(
        "id",
        "if(id % 5 = 0, null, concat('text ', id)) text",
        "cast(repeat(lpad(string(id), 10, '0'), 2097) as binary) bin"
      )

  /** All that the records are, in their order. */
  def digests(data: DataFrame): Seq[Row] =
    data.selectExpr("_index", "id", "text", "md5(bin)").orderBy("_index").collect().toSeq

  /** Two shards are a group. */
  def pairs: RebalanceOptions = RebalanceOptions.defaults().withShardBytes(2 * Mib, 2 * Mib)

  /** … which takes a while. */
  def pairsSlowly: RebalanceOptions =
    pairs.withCompression(java.util.Map.of("bin", Compression.parse("flate:9")))
}
