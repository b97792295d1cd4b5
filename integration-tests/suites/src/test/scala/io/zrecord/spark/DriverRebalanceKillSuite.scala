package io.zrecord.spark

import java.nio.file.Paths

import scala.util.Random

import io.zrecord.storage.local.LocalStorage
import io.zrecord.table.RecordTable

/** Drivers that rebalance are killed (SIGKILL) somewhere in or after a group of their choice. */
class DriverRebalanceKillSuite extends RebalanceKills {
  private val Groups = 20

  test(s"drivers that are killed leave the old or the new version, whole ($seed)") {
    val random = new Random(seed)
    var replaced = 0
    for (kill <- 0 until kills) {
      val path = writeGroups(Groups)
      val expected = digests(read(path))
      def version =
        tableAt(path).latest().version()
      val process = SubmittedProcess.start(
        "io.zrecord.spark.Rebalance",
        path,
        "--min-shard-bytes",
        "2m",
        "--target-shard-bytes",
        "2m",
        "--compression",
        "bin=flate:9"
      )
      val target = random.nextInt(Groups * 3 / 5)
      assert(eventually(!process.isAlive || version >= target, 300), process.err)
      val until = System.nanoTime() + random.nextInt(300) * 1000000L
      while (System.nanoTime() < until) Thread.onSpinWait()
      process.kill()
      replaced += version.toInt
      requireWhole(path, expected, kill)
      assert(Rebalance.of(spark, path).options(pairs).run().failures().isEmpty)
      assert(digests(read(path)) == expected)
    }
    info(s"$kills kills; $replaced groups of ${Groups * kills} were replaced before")
  }
}
