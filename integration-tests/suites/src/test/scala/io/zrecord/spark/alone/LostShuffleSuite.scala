package io.zrecord.spark
package alone

import java.io.File
import java.util.concurrent.atomic.AtomicInteger

import io.zrecord.storage.local.LocalStorage
import io.zrecord.table.RecordTable
import org.apache.spark.{FetchFailed, TaskContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.functions.{col, udf}

/** Shuffle files are lost while the stage that reads them writes a dataset. */
class LostShuffleSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it lists local files"

  private lazy val directory = freshPath()

  // One task at a time, so that some have written their rows when the files are lost.
  override protected def master: String = "local[1]"

  override protected def contextSettings: Map[String, String] =
    Map("spark.local.dir" -> directory, "spark.sql.shuffle.partitions" -> "3")

  /** Writes 400 rows in 8 tasks, the fourth of which loses the shuffle's files. Returns the
    * outcome.
    */
  private def losing(path: String): String = {
    val lost = new AtomicInteger()
    val losing = LostShuffleSuite.loseInFourthTask(directory, path)
    // Rows come in any order from the first shuffle, and the second shuffle distributes them.
    val data = spark.range(0, 400, 1, 4).repartition(3, col("id")).repartition(8).toDF("id")
    var outcome = "written"
    listening(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = end.reason match {
        case _: FetchFailed => lost.incrementAndGet()
        case _ =>
      }
    }) {
      try write(data.select(losing(col("id")).as("id")), path, "append")
      catch { case e: Throwable => outcome = messages(e) }
      assert(eventually(lost.get() > 0), "no fetch failed")
    }
    outcome
  }

  private def expect(path: String, ids: Seq[Long]): Unit = {
    assert(read(path).collect().map(_.getLong(0)).sorted.toSeq == ids)
    val named = tableAt(path).latest().shards()
    assert(eventually(new File(path, "shard").list().length == named.size))
  }

  test("rows that are dealt out the same way again are written once") {
    val path = freshPath()
    assert(losing(path) == "written")
    expect(path, 0L until 400L)
  }

  test("rows that may be dealt out in another way are written once, or not at all") {
    spark.conf.set("spark.sql.execution.sortBeforeRepartition", "false")
    try {
      val path = freshPath()
      write(spark.range(1000, 1010, 1, 1).toDF("id"), path, "append")
      val outcome = losing(path)
      if (outcome == "written") expect(path, (0L until 400L) ++ (1000L until 1010L))
      else {
        assert(outcome.contains("indeterminate"), outcome)
        expect(path, 1000L until 1010L)
      }
    } finally spark.conf.unset("spark.sql.execution.sortBeforeRepartition")
  }
}

object LostShuffleSuite {
  private val done = java.util.concurrent.ConcurrentHashMap.newKeySet[String]()

  def loseInFourthTask(directory: String, key: String) = udf((id: Long) => {
    if (TaskContext.get().partitionId() == 3 && done.add(key)) delete(new File(directory))
    id
  })

  private def delete(file: File): Unit =
    if (file.isDirectory) file.listFiles().foreach(delete)
    else if (file.getName.startsWith("shuffle_")) file.delete()
}
