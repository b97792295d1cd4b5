package io.zrecord.spark

import java.nio.file.{Files, Path, Paths}
import java.nio.file.attribute.FileTime
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import java.util.function.Consumer

import scala.collection.JavaConverters._

import io.zrecord.errors.StorageException
import io.zrecord.spark.job.SweepTasks
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{CareMode, SweepOptions, SweepPart, SweepResult, SweepWorkers, SweptFiles}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart, SparkListenerTaskEnd}

/** Sweeps in tasks find and delete what a sweep of the engine would. */
class SweepSuite extends SparkSuite {
  override protected def configuration: Map[String, String] = CountingFileSystem.Settings

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

  /** Returns a result, and how many tasks jobs of the sweep have run for it. */
  private def countingTasks(path: String)(action: => SweepResult): (SweepResult, Int) = {
    val context = spark.sparkContext
    val stages = ConcurrentHashMap.newKeySet[Int]()
    val tasks = new AtomicInteger
    @volatile var isOver = false
    val listener = new SparkListener {
      override def onJobStart(start: SparkListenerJobStart): Unit = {
        val description = start.properties.getProperty("spark.job.description")
        if (description == s"over: $path") isOver = true
        else if (description != null && description.startsWith(s"sweep $path: "))
          start.stageIds.foreach(stages.add)
      }
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (stages.contains(end.stageId)) { tasks.incrementAndGet(); () }
    }
    context.addSparkListener(listener)
    try {
      val result = action
      // Events come in order: when that of one more job was seen, those before were.
      context.setJobDescription(s"over: $path")
      try context.parallelize(Seq(1), 1).count()
      finally context.setJobDescription(null)
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
    val (dry, lookers) = countingTasks(path)(Sweep.of(spark, path).run())
    assert(lookers == 3)
    assert(dry == tableAt(path).sweep(SweepOptions.defaults(), _ => ()))
    assert(children(Paths.get(path, "shard")).size == 3 + 7 + Orphans)
    val (swept, tasks) = countingTasks(path)(Sweep.of(spark, path).options(deleting).run())
    assert(tasks == 3 + 3)
    requireSwept(path, swept)
  }

  testLocally("a sweep of few directories runs no task") {
    val path = freshPath()
    write(spark.range(0, 100, 1, 1).toDF("id"), path, "append")
    val (swept, tasks) = countingTasks(path)(Sweep.of(spark, path).options(deleting).run())
    assert(swept.fileCount == 0 && tasks == 0)
  }

  private class Workers(path: String) extends SweepWorkers {
    private val storage = SparkStorages.storageFor(path)
    private val tasks = new SweepTasks(spark, storage)
    override def look(parts: java.util.Iterator[SweepPart], looked: Consumer[SweepPart.Looked]) =
      tasks.look(parts, looked)
    override def delete(files: SweptFiles): Unit = tasks.delete(files)
    override def deletedAtOnce(): Int = tasks.deletedAtOnce()
  }

  testLocally("a worker that does not see the table ends the sweep, and nothing is deleted") {
    val path = littered()
    val elsewhere = freshPath()
    write(spark.range(5).toDF("id"), elsewhere, "append")
    for (blind <- Seq(freshPath(), elsewhere)) {
      val storage = SparkStorages.storageFor(blind)
      val looking = new Workers(path) {
        override def look(
            parts: java.util.Iterator[SweepPart],
            looked: Consumer[SweepPart.Looked]
        ): Unit = parts.forEachRemaining(part => looked.accept(part.look(storage)))
      }
      val unseen = intercept[StorageException](tableAt(path).sweep(deleting, looking, _ => ()))
      assert(unseen.getMessage.contains("let every worker see the same directory"))
      val removing = new Workers(path) {
        override def delete(files: SweptFiles): Unit = files.delete(storage)
      }
      intercept[StorageException](tableAt(path).sweep(deleting, removing, _ => ()))
      assert(children(Paths.get(path, "shard")).size == 3 + 7 + Orphans)
    }
    requireSwept(path, Sweep.of(spark, path).options(deleting).run())
  }

  testLocally("of a table that is asked for by requests the driver lists, and tasks delete") {
    val path = littered()
    val remote = "count://" + path
    var swept = Option.empty[(SweepResult, Int)]
    val requests = CountingFileSystem.requestsOf {
      val location = SparkStorages.storageFor(remote).location()
      swept = Some(countingTasks(location)(Sweep.of(spark, remote).options(deleting).run()))
    }
    val (result, tasks) = swept.get
    assert(tasks == 3)
    assert(!requests.exists(r => r.name == "list" && r.path.contains("/shard") && r.isOfTask))
    assert(result.fileCount == Orphans + 1 && result.youngFileCount == 7, result)
    assert(Verify.of(spark, path).allVersions().run().isSound)
    assert(read(path).count() == 300)
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
