package io.zrecord.spark

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.schema.Compression
import org.apache.spark.sql.{DataFrame, Row}

/** How many of the kills of rebalances are those of drivers and of executors (docs/proofs.md), and
  * tables for them.
  */
trait RebalanceKills extends SparkSuite {
  private val Mib = 1L << 20

  /** Of 50 kills, drivers have three, executors have three and the process on one machine the rest.
    */
  protected val kills: Int =
    math.max(1, Integer.getInteger("zrecord.test.rebalanceKills", 50).intValue * 3 / 50)
  protected val seed: Long = java.lang.Long.getLong("zrecord.test.seed", 20261121L).longValue

  /** Two shards are a group. */
  protected val pairs: RebalanceOptions =
    RebalanceOptions.defaults().withShardBytes(2 * Mib, 2 * Mib)

  /** … which takes a while. */
  protected val pairsSlowly: RebalanceOptions =
    pairs.withCompression(java.util.Map.of("bin", Compression.parse("flate:9")))

  /** A new table with two shards for each group, of a little more than 1 MiB and 50 records. */
  protected def writeGroups(count: Int): String = {
    val path = freshPath()
    write(
      spark
        .range(0, 2 * count * 50L, 1, 2 * count)
        .selectExpr(
          "id",
          "if(id % 5 = 0, null, concat('text ', id)) text",
          "cast(repeat(lpad(string(id), 10, '0'), 2097) as binary) bin"
        ),
      path,
      "append"
    )
    path
  }

  /** All that the records are, in their order. */
  protected def digests(data: DataFrame): Seq[Row] =
    data.selectExpr("_index", "id", "text", "md5(bin)").orderBy("_index").collect().toSeq

  /** The newest version has these records, as the first one has, and all values of all are sound.
    */
  protected def requireWhole(path: String, expected: Seq[Row], kill: Int): Unit = {
    assert(digests(read(path)) == expected, s"kill $kill")
    assert(digests(read(path, "versionAsOf" -> "0")) == expected, s"kill $kill")
    val check = Verify.of(spark, path).allVersions().run()
    assert(check.isSound, s"kill $kill: $check")
  }
}
