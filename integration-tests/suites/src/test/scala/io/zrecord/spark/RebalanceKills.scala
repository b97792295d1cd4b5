package io.zrecord.spark

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.schema.Compression
import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}

/** The numbers of kills of drivers and of executors in rebalances (docs/proofs.md), and tables for
  * them.
  */
trait RebalanceKills extends SparkSuite with RunsOnce {
  override protected def whyOnce: String =
    "it kills drivers and executors, which do not know the servers of this process"

  private val Mib = 1L << 20

  protected val kills: Int = Budget.of(3)
  protected val seed: Long = Budget.seed

  /** Makes two shards a group. */
  protected val pairs: RebalanceOptions =
    RebalanceOptions.defaults().withShardBytes(2 * Mib, 2 * Mib)

  /** Makes two shards a group, and takes a while. */
  protected val pairsSlowly: RebalanceOptions =
    pairs.withCompression(java.util.Map.of("bin", Compression.parse("flate:9")))

  /** Writes a new table with two shards for each group, of a little more than 1 MiB and 50 records.
    */
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

  /** Returns the content of all records, in their order. */
  protected def digests(data: DataFrame): Seq[Row] =
    data.selectExpr("_index", "id", "text", "md5(bin)").orderBy("_index").collect().toSeq

  /** Requires that the newest version and the first version have these records, and that all values
    * of all versions are sound.
    */
  protected def requireWhole(path: String, expected: Seq[Row], kill: Int): Unit = {
    assert(digests(read(path)) == expected, s"kill $kill")
    assert(digests(read(path, "versionAsOf" -> "0")) == expected, s"kill $kill")
    val check = Verify.of(spark, path).allVersions().run()
    assert(check.isSound, s"kill $kill: $check")
  }
}
