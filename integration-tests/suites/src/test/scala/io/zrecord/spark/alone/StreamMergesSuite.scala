package io.zrecord.spark
package alone

import java.io.File
import java.lang.management.{BufferPoolMXBean, ManagementFactory}

import scala.collection.JavaConverters._
import scala.collection.mutable

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.testing.Budget
import org.apache.spark.sql.DataFrame
import org.scalatest.tags.Slow

/** A stream whose batches are merged into a table, for long, while the table is cared for. */
@Slow
class StreamMergesSuite extends StreamTables {
  private val batches = Budget.of(500).max(100)

  // Spark itself remembers jobs, queries and batches, up to a number that a test does not reach.
  override protected def contextSettings: Map[String, String] = Map(
    "spark.ui.retainedJobs" -> "20",
    "spark.ui.retainedStages" -> "20",
    "spark.ui.retainedTasks" -> "200",
    "spark.sql.ui.retainedExecutions" -> "20",
    "spark.sql.streaming.numRecentProgressUpdates" -> "10"
  )

  /** What is held after a number of batches.
    *
    * @param files
    *   of the newest version, besides lists
    * @param bytes
    *   of the heap and of buffers outside
    */
  private case class Held(files: Long, shards: Int, bytes: Long, descriptors: Int)

  private def held(path: String): Held = {
    (1 to 3).foreach(_ => System.gc())
    val outside = ManagementFactory
      .getPlatformMXBeans(classOf[BufferPoolMXBean])
      .asScala
      .map(_.getMemoryUsed)
      .sum
    Held(
      spark.sql(s"select count(*) from zrecord.`$path`.files").head.getLong(0),
      tableAt(path).latest().shards().size,
      ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed + outside,
      Option(new File("/proc/self/fd").list()).fold(0)(_.length)
    )
  }

  testLocally(s"after $batches batches of MERGE no more is held than after a fifth of them") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    val columns = Seq("id", "0L label", "concat('text ', id) text", "array(id, id) pair")
    write(spark.range(0, 20000, 1, 4).selectExpr(columns: _*), path, "append")
    val labels = mutable.Map[Long, Long]() ++ (0L until 20000L).map(_ -> 0L)
    for (batch <- 0 until batches) {
      val ids = (0 until 20).map(i => (batch * 7919L + i * 104729L) % 20000) :+ (20000L + batch)
      ids.distinct.foreach(id => labels(id) = labels.get(id).fold(100L)(_ + 1))
      addIds(input, ids.distinct)
    }
    val found = mutable.Buffer[Held]()
    var commits = 0
    val merged = writer(lines(input, "id long"), checkpoint).foreachBatch {
      (batch: DataFrame, number: Long) =>
        batch.createOrReplaceTempView("changes")
        batch.sparkSession.sql(
          s"""merge into zrecord.`$path` t using changes c on t.id = c.id
             | when matched then update set label = t.label + 1
             | when not matched then insert (id, label, text, pair) values
             |   (c.id, 100, 'new', array(c.id))""".stripMargin
        )
        commits += 1
        if (number % 20 == 19) {
          Rebalance.of(spark, path).options(RebalanceOptions.defaults()).run()
          found += held(path)
        }
        ()
    }
    run(merged.start())
    assert(commits == batches)
    info(found.map(_.toString).mkString("\n"))
    val early = found.take(found.size / 5)
    val late = found.takeRight(found.size / 5)
    assert(late.map(_.files).max <= early.map(_.files).max + 4)
    assert(late.map(_.shards).max <= early.map(_.shards).max + 1)
    assert(late.map(_.descriptors).min <= early.map(_.descriptors).max + 5)
    // A tenth more, and 16 MiB: what the compiler, classes and caches of plans may add.
    val limit = early.map(_.bytes).max * 11 / 10 + (16 << 20)
    assert(late.map(_.bytes).min <= limit)
    val rows = read(path).select("id", "label").collect()
    assert(rows.map(row => row.getLong(0) -> row.getLong(1)).toMap == labels)
    assert(rows.length == labels.size)
  }
}
