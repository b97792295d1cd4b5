package io.zrecord.spark
package alone

import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.rebalance.order.{Direction, RecordOrder}
import io.zrecord.schema.Compression
import io.zrecord.shard.WriteOptions
import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, udf}

/** Several executor processes, as on a cluster. */
class ClusterSuite extends SparkSuite with RunsOnce with RowChangesOnACluster {
  override protected def whyOnce: String =
    "its executors are processes, which leave marks in local files"

  override protected def master: String = ClusterSuite.localCluster(2)

  override protected def contextSettings: Map[String, String] =
    ClusterSuite.executorConfiguration + ("spark.task.maxFailures" -> "4")

  private def expect(path: String, count: Long): Unit = {
    assert(read(path).count() == count)
    assert(read(path).orderBy("id").collect().map(_.getLong(0)).toSeq == (0L until count))
    // Insertion order is kept, whichever attempts won.
    assert(rows(read(path)).map(_.getLong(0)) == (0L until count))
  }

  test("written and read by executors") {
    val path = freshPath()
    write(spark.range(0, 1000, 1, 8).toDF("id"), path, "append")
    expect(path, 1000)
  }

  test("executors of their own find the order of a sampler") {
    val path = freshPath()
    write(spark.range(0, 1000, 1, 4).selectExpr("id", "id % 5 w"), path, "append")
    val weights = Array.tabulate(1000)(i => (i % 5).toDouble)
    val order = io.zrecord.sampler.Samplers.weighted(weights, 42)
    val data = read(
      path,
      "sampler" -> "weighted",
      "weightsField" -> "w",
      "numSamples" -> "3000",
      "numPartitions" -> "6"
    )
    val indices = new Array[Long](3000)
    order.indices(0, 0, indices, 0, 3000)
    assert(data.select("id").collect().map(_.getLong(0)).toSeq == indices.toSeq)
    assert(
      read(path, "numPartitions" -> "6").sample(0.5, 3).count() ==
        read(path, "numPartitions" -> "1").sample(0.5, 3).collect().length
    )
  }

  test("tasks that fail are run again and count once") {
    val path = freshPath()
    val failing = ClusterSuite.failFirstAttempts
    write(spark.range(0, 1000, 1, 8).select(failing(col("id")).as("id")), path, "append")
    expect(path, 1000)
  }

  test("an executor that dies loses nothing") {
    val path = freshPath()
    val marker = Paths.get(freshPath())
    Files.createDirectories(marker.getParent)
    val dying = ClusterSuite.dieOnce(marker.toString)
    write(spark.range(0, 1000, 1, 8).select(dying(col("id")).as("id")), path, "append")
    assert(Files.exists(marker))
    expect(path, 1000)
  }

  test("a task that fails after its files were closed counts once") {
    val path = freshPath()
    val failing = ClusterSuite.failFirstAttemptsAfterTheirCommit
    val attempts = new AtomicInteger()
    listening(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (end.taskInfo.failed) attempts.incrementAndGet()
    }) {
      write(spark.range(0, 1000, 1, 8).select(failing(col("id")).as("id")), path, "append")
      assert(eventually(attempts.get() >= 4), attempts)
    }
    expect(path, 1000)
  }

  test("an executor that dies after a task closed its files loses nothing") {
    val path = freshPath()
    val marker = Paths.get(freshPath())
    Files.createDirectories(marker.getParent)
    val dying = ClusterSuite.dieOnceAfterCommit(marker.toString)
    write(spark.range(0, 1000, 1, 8).select(dying(col("id")).as("id")), path, "append")
    assert(Files.exists(marker))
    expect(path, 1000)
  }

  test("an executor that dies during a rebalance loses nothing") {
    val path = freshPath()
    write(ClusterSuite.shardsWorthAWhile(spark), path, "append")
    val expected = read(path).selectExpr("_index", "id", "md5(bin)").collect().toSeq
    dyingAt(path) { dying =>
      val result = Rebalance.of(spark, dying).run()
      assert(result.failures().isEmpty && result.records() == 400, result)
      assert(result.after().shards() == 1, result)
    }
    assert(read(path).selectExpr("_index", "id", "md5(bin)").collect().toSeq == expected)
    assert(Verify.of(spark, path).allVersions().run().isSound)
  }

  test("an executor that dies during a relayout loses nothing") {
    val path = freshPath()
    write(ClusterSuite.shardsWorthAWhile(spark), path, "append")
    val order = RecordOrder.by("id", Direction.DESCENDING)
    dyingAt(path) { dying =>
      val result = Relayout.of(spark, dying, order).layout(WriteOptions.defaults(), 8L << 20).run()
      assert(result.records() == 400 && result.shardsAfter() >= 3, result)
    }
    assert(read(path).orderBy("_index").collect().map(_.getLong(0)).toSeq == (0L until 400).reverse)
    assert(
      read(path).where("md5(bin) = md5(repeat(lpad(string(id), 8, '0'), 10486))").count() == 400
    )
    assert(Verify.of(spark, path).allVersions().run().isSound)
  }

  /** Rewrites a table by another path, where the executor of one of the tasks that write shards
    * dies when the task has written the values. Requires that it died, and left a shard that nobody
    * names.
    */
  private def dyingAt(path: String)(rewrite: String => Any): Unit = {
    setting(DyingFileSystem.Settings.toSeq: _*)(rewrite(s"${DyingFileSystem.Scheme}://$path"))
    assert(DyingFileSystem.hasDied(path), "no executor died")
    val named = (0L to tableAt(path).latest().version()).flatMap { number =>
      val version = tableAt(path).version(number)
      version.shards().asScala.map(_.id().toString) ++
        Option(version.indexMap().orElse(null)).map(_.shard().id().toString)
    }
    assert((filesOf(path).shards -- named).size == 1, "the dead task left no shard")
  }

  test("a job that is aborted publishes nothing and a later one is whole") {
    val path = freshPath()
    write(spark.range(0, 10, 1, 2).toDF("id"), path, "append")
    val failing = ClusterSuite.failAlways
    failure(write(spark.range(0, 1000, 1, 8).select(failing(col("id")).as("id")), path, "append"))
    expect(path, 10)
  }

  test("two jobs that append at once both take effect") {
    val path = freshPath()
    write(spark.range(0, 0, 1, 1).toDF("id"), path, "append")
    val threads = (0 until 4).map { n =>
      val thread = new Thread(() =>
        for (k <- 0 until 3)
          write(
            spark.range(n * 1000 + k * 100, n * 1000 + k * 100 + 50, 1, 2).toDF("id"),
            path,
            "append"
          )
      )
      thread.start()
      thread
    }
    threads.foreach(_.join())
    val expected =
      for (n <- 0 until 4; k <- 0 until 3; i <- 0 until 50) yield n * 1000L + k * 100 + i
    assert(read(path).collect().map(_.getLong(0)).sorted.toSeq == expected.sorted)
  }

  test("of two jobs that overwrite at once at least one wins, and the dataset is one of them") {
    val path = freshPath()
    write(spark.range(0, 10, 1, 1).toDF("id"), path, "append")
    val outcomes = new java.util.concurrent.ConcurrentLinkedQueue[String]()
    val threads = Seq(20L, 30L).map { n =>
      val thread = new Thread(() =>
        try {
          write(spark.range(0, n, 1, 2).toDF("id"), path, "overwrite")
          outcomes.add("won")
        } catch { case e: Throwable => outcomes.add(messages(e)) }
      )
      thread.start()
      thread
    }
    threads.foreach(_.join())
    assert(outcomes.contains("won"))
    outcomes.forEach(outcome =>
      assert(outcome == "won" || outcome.contains("overwriting it would drop"), outcome)
    )
    assert(Set(20L, 30L).contains(read(path).count()))
  }
}

object ClusterSuite {

  /** Returns a master with this many executors of one core and 1 GiB each. */
  def localCluster(executors: Int): String = {
    // Executors take the jars of a Spark home that has this file.
    val release = Paths.get(System.getenv("SPARK_HOME"), "RELEASE")
    if (!Files.exists(release)) Files.createFile(release)
    s"local-cluster[$executors,1,1024]"
  }

  /** Lets executors start fast and give up the blocks of dead ones soon. The environment lets them
    * find the connector and the suites' classes.
    */
  def executorConfiguration: Map[String, String] =
    Map(
      "spark.executor.extraJavaOptions" -> SuiteProcess.jvmOptions.mkString(" "),
      "spark.executor.memory" -> "1g",
      "spark.shuffle.io.retryWait" -> "100ms"
    )

  /** Returns records for eight shards of 4 MiB. */
  def shardsWorthAWhile(spark: SparkSession): DataFrame =
    spark
      .range(0, 400, 1, 8)
      .selectExpr("id", "cast(repeat(lpad(string(id), 8, '0'), 10486) as binary) bin")

  /** Joins all shards to one shard, which takes longer than a signal. */
  def joinSlowly: RebalanceOptions =
    RebalanceOptions
      .defaults()
      .withCompression(java.util.Map.of("bin", Compression.parse("flate:9")))

  /** Returns process ids by executor. */
  def processes(spark: SparkSession): Map[String, Long] =
    spark.sparkContext
      .parallelize(1 to 40, 40)
      .map { _ => Thread.`yield`(); (SparkEnv.get.executorId, ProcessHandle.current().pid()) }
      .collect()
      .toMap

  val failFirstAttempts = udf((id: Long) => {
    val task = TaskContext.get()
    if (task.attemptNumber() == 0 && task.partitionId() % 2 == 1 && id % 125 == 124) {
      throw new IllegalStateException("first attempts fail at their last row")
    }
    id
  })

  /** Listeners of a task's completion run when its writer has committed. */
  val failFirstAttemptsAfterTheirCommit = udf((id: Long) => {
    val task = TaskContext.get()
    if (task.attemptNumber() == 0 && task.partitionId() % 2 == 1 && id % 125 == 124)
      task.addTaskCompletionListener[Unit]((_: TaskContext) =>
        throw new IllegalStateException("first attempts fail when they are done")
      )
    id
  })

  def dieOnceAfterCommit(marker: String) = udf((id: Long) => {
    if (id == 300)
      TaskContext
        .get()
        .addTaskCompletionListener[Unit]((_: TaskContext) => dieOnceNow(marker))
    id
  })

  /** Ends this process unless one did already. */
  def dieOnceNow(marker: String): Unit = {
    val first =
      try { Files.createFile(Paths.get(marker)); true }
      catch { case _: java.nio.file.FileAlreadyExistsException => false }
    if (first) Runtime.getRuntime.halt(17)
  }

  val failAlways = udf((id: Long) => {
    if (id == 999) throw new IllegalStateException("this row always fails")
    id
  })

  def dieOnce(marker: String) = udf((id: Long) => {
    if (id == 300) dieOnceNow(marker)
    id
  })
}
