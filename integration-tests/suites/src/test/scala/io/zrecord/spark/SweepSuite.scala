package io.zrecord.spark

import java.nio.file.{Files, Path, Paths}
import java.nio.file.attribute.FileTime
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import io.zrecord.spark.job.SweepTasks
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{CareMode, SweepOptions, SweepPart, SweepResult, SweepWorkers}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart, SparkListenerTaskEnd}

/** Sweeps in tasks find and delete what a sweep of the engine would. */
class SweepSuite extends SparkSuite {
  private val Orphans = 2500

  /** Makes a table with files that no version names: directories of shards, among them some that
    * are young, and one file in a directory that versions name.
    */
  private def littered(): String = {
    val path = freshPath()
    for (start <- Seq(0, 100, 200)) {
      write(spark.range(start, start + 100, 1, 1).toDF("id"), path, "append")
    }
    val shards = Paths.get(path, "shard")
    val named = children(shards)
    for (i <- 0 until Orphans + 7) {
      val orphan = Files.createDirectory(shards.resolve(UUID.randomUUID.toString))
      val file = Files.write(orphan.resolve("chunk"), new Array[Byte](10))
      if (i < Orphans) Seq(file, orphan).foreach(age)
    }
    age(Files.write(named.head.resolve("left"), new Array[Byte](5)))
    age(named.head)
    path
  }

  private def children(directory: Path): Seq[Path] = {
    val listed = Files.list(directory)
    try listed.iterator.asScala.toList
    finally listed.close()
  }

  private def age(file: Path): Unit = Files.setLastModifiedTime(file, FileTime.fromMillis(0))

  private val deleting = SweepOptions.defaults().withMode(CareMode.DELETE)

  /** Returns a result, and how many tasks were run for it. */
  private def countingTasks[T](action: => T): (T, Int) = {
    val context = spark.sparkContext
    val tasks = new AtomicInteger
    @volatile var lastStage = -1
    @volatile var isOver = false
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (end.stageId == lastStage) isOver = true else { tasks.incrementAndGet(); () }
      override def onJobStart(start: SparkListenerJobStart): Unit =
        if (start.properties.getProperty("last") != null) lastStage = start.stageIds.head
    }
    context.addSparkListener(listener)
    try {
      val result = action
      // Events come in order: when that of one more task was seen, those before were.
      context.setLocalProperty("last", "yes")
      try context.parallelize(Seq(1), 1).count()
      finally context.setLocalProperty("last", null)
      assert(eventually(isOver, 120))
      (result, tasks.get)
    } finally context.removeSparkListener(listener)
  }

  private def requireSwept(path: String, result: SweepResult): Unit = {
    assert(result.fileCount == Orphans + 1 && result.lengthBytes == Orphans * 10 + 5, result)
    assert(result.youngFileCount == 7 && result.youngBytes == 70, result)
    assert(children(Paths.get(path, "shard")).size == 3 + 7)
    assert(Verify.of(spark, path).allVersions().run().isSound)
    assert(read(path).collect().map(_.getLong(0)).toSeq == (0L until 300L))
    val again = Sweep.of(spark, path).options(deleting).run()
    assert(again.fileCount == 0 && again.youngFileCount == 7, again)
  }

  testLocally("tasks find and delete what the sweep of one process would") {
    val path = littered()
    val (dry, lookers) = countingTasks(Sweep.of(spark, path).run())
    assert(lookers == 3)
    assert(dry == tableAt(path).sweep(SweepOptions.defaults(), _ => ()))
    assert(children(Paths.get(path, "shard")).size == 3 + 7 + Orphans)
    val (swept, tasks) = countingTasks(Sweep.of(spark, path).options(deleting).run())
    assert(tasks == 3 + 3)
    requireSwept(path, swept)
  }

  testLocally("a sweep of few directories runs no task") {
    val path = freshPath()
    write(spark.range(0, 100, 1, 1).toDF("id"), path, "append")
    val (swept, tasks) = countingTasks(Sweep.of(spark, path).options(deleting).run())
    assert(swept.fileCount == 0 && tasks == 0)
  }

  testLocally("what is committed between the look and the deletion stays") {
    val path = littered()
    val storage = SparkStorages.storageFor(path)
    val workers = new SweepTasks(spark, storage)
    val committing = new SweepWorkers {
      override def look(
          parts: java.util.Iterator[SweepPart],
          looked: java.util.function.Consumer[SweepPart.Looked]
      ): Unit = {
        workers.look(parts, looked)
        write(spark.range(300, 400, 1, 1).toDF("id"), path, "append")
      }
      override def delete(names: java.util.List[String]): Unit = workers.delete(names)
      override def deletedAtOnce(): Int = workers.deletedAtOnce()
    }
    tableAt(path).sweep(deleting, committing, _ => ())
    assert(read(path).collect().map(_.getLong(0)).toSeq == (0L until 400L))
    assert(Verify.of(spark, path).allVersions().run().isSound)
  }

  testLocally("spark-submit sweeps, and deletes only if it is told to") {
    val path = littered()
    def submitted(arguments: String*): String = {
      val process =
        SubmittedProcess.start("io.zrecord.spark.Sweep", path +: arguments: _*)
      assert(process.exitCode() == 0, process.err)
      process.out.trim
    }
    def line(isDry: Boolean) = s"""{"dryRun":$isDry,"files":${Orphans + 1},""" +
      s""""bytes":${Orphans * 10 + 5},"youngFiles":7,"youngBytes":70}"""
    assert(submitted() == line(isDry = true))
    assert(submitted("--older-than", "2h", "--delete") == line(isDry = false))
    assert(children(Paths.get(path, "shard")).size == 3 + 7)
  }
}
