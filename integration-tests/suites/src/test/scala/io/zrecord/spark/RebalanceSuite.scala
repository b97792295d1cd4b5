package io.zrecord.spark

import io.zrecord.spark.job.{ObjectBytes, TaskJobs, TaskProgress}
import java.io.IOException
import java.nio.file.{Files, Paths, StandardCopyOption}
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong, AtomicReference}

import scala.collection.JavaConverters._

import io.zrecord.rebalance.{RebalanceGroup, RebalanceOptions, RebalancePlan}
import io.zrecord.schema.{Codec, Compression}
import io.zrecord.shard.WriteOptions
import io.zrecord.table.{RecordTable, TableSnapshot}
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerExecutorMetricsUpdate,
  SparkListenerTaskEnd
}
import org.apache.spark.api.java.JavaSparkContext
import org.apache.spark.serializer.JavaSerializer
import org.apache.spark.sql.Row

/** Rebalancing by Spark: no index ever names another record, and each group is independent. */
class RebalanceSuite extends SparkSuite {
  import RebalanceSuite._

  /** Writes a table of small shards of about `shardBytes` each; two of them are a group of pairs.
    */
  private def table(shards: Int, shardBytes: Int = 600 << 10): String = {
    val path = freshPath()
    append(path, shards, shardBytes)
    path
  }

  private def append(path: String, shards: Int, shardBytes: Int): Unit = {
    val from = if (tableAt(path).exists()) read(path).count() else 0L
    write(
      spark
        .range(from, from + shards * 50L, 1, shards)
        .selectExpr(
          "id",
          "if(id % 5 = 0, null, concat('text ', id)) text",
          s"cast(repeat(lpad(string(id), 10, '0'), ${shardBytes / 500}) as binary) bin"
        ),
      path,
      "append"
    )
  }

  private def pairs: RebalanceOptions =
    RebalanceOptions.defaults().withShardBytes(Mib, Mib)

  private def snapshot(path: String): TableSnapshot =
    tableAt(path).latest()

  /** Returns the shards that a version names. */
  private def named(path: String): Set[String] = {
    val table = tableAt(path)
    val ids = Set.newBuilder[String]
    table.versions().forEach { version =>
      table.version(version).shards().forEach(shard => ids += shard.id().toString)
    }
    ids.result()
  }

  private def requireNoOrphan(path: String): Unit =
    assert(filesOf(path).shards == named(path))

  private def damageLastValue(path: String, shard: Int): Unit = {
    val files = filesOf(path)
    files.flip(files.chunk(snapshot(path).shards().get(shard)), -9)
  }

  test("a task is sent few bytes, however many shards its group has") {
    val path = freshPath()
    write(spark.range(3).toDF("id"), path, "append")
    val shard = tableAt(path).latest().shards().get(0)
    val shards = Seq.fill(100000)(shard.withoutSizes()).asJava
    val group = new RebalanceGroup(shards, 0, Seq(RebalanceGroup.Reason.SMALL).asJava)
    val message = ObjectBytes.of(group)
    assert(message.length > (1 << 20))
    val context = JavaSparkContext.fromSparkContext(spark.sparkContext)
    val sent = context.broadcast(message)
    try {
      val job = TaskJobs.ofOneTask(context, sent, (bytes: Array[Byte]) => bytes.take(1))
      val serializer = new JavaSerializer(spark.sparkContext.getConf).newInstance()
      val (rdd, part) = (job.rdd, job.rdd.partitions.head)
      assert(serializer.serialize(part).remaining + serializer.serialize(rdd).remaining < 16384)
      assert(job.collect().get(0).toSeq == message.take(1).toSeq)
    } finally sent.destroy()
  }

  test("every version reads as before, and the manifest says who did it") {
    val path = table(4, 2000)
    val first = rows(read(path))
    (1 to 3).foreach(_ => append(path, 4, 2000))
    val expected = rows(read(path))
    val result = Rebalance.of(spark, path).options(pairs).run()
    assert(result.failures().isEmpty)
    assert(result.groups() == 1)
    assert(result.records() == 800)
    assert(result.before().shards() == 16 && result.after().shards() == 1)
    assert(result.after().valueBytes() == result.before().valueBytes())
    assert(result.after().utilization() >= result.before().utilization())
    assert(rows(read(path)) == expected)
    assert(rows(read(path, "versionAsOf" -> "0")) == first)
    val version = snapshot(path)
    assert(version.operation() == "rebalance")
    assert(version.properties().get("applicationId") == spark.sparkContext.applicationId)
    assert(version.properties().get("user") == spark.sparkContext.sparkUser)
    assert(version.properties().get("rewrittenRecords") == "800")
    assert(Rebalance.of(spark, path).options(pairs).plan().groups().isEmpty)
    requireNoOrphan(path)
  }

  test("each group is a version of its own, and a codec is changed") {
    val path = table(8)
    val expected = rows(read(path))
    val options = pairs.withCompression(java.util.Map.of("bin", Compression.of(Codec.ZSTD)))
    val result = Rebalance.of(spark, path).options(options).concurrency(3).run()
    assert(result.groups() == 4)
    assert(snapshot(path).version() == 4)
    assert(result.after().valueBytes() < result.before().valueBytes() / 10)
    assert(snapshot(path).schema().fields().get(2).compression().codec() == Codec.ZSTD)
    assert(rows(read(path)) == expected)
  }

  test("all shards get another alignment, once") {
    val path = table(4)
    val expected = rows(read(path))
    val options = pairs.withWrite(WriteOptions.defaults().withAlignBytes(4096))
    Rebalance.of(spark, path).options(options.withAllShards()).run()
    val places = placesOf(path, 3)
    assert(places.size == 200)
    assert(places.forall(_ % 4096 == 0))
    assert(rows(read(path)) == expected)
    assert(Rebalance.of(spark, path).options(options).plan().groups().isEmpty)
  }

  test("only a range of indices, and at most so many bytes") {
    val path = table(8)
    val plan = (options: RebalanceOptions) => Rebalance.of(spark, path).options(options).plan()
    assert(plan(pairs.withIndices(100, 300)).groups().size() == 2)
    val cut = plan(pairs.withMaxRunBytes(1))
    assert(cut.isCutShort && cut.groups().size() == 1)
    assert(Rebalance.of(spark, path).options(pairs.withMaxRunBytes(1)).run().isCutShort)
    assert(plan(pairs).groups().size() == 3)
  }

  test("appends meanwhile commute") {
    val path = table(8)
    val rebalance = Rebalance.of(spark, path).options(pairs)
    val plan = rebalance.plan()
    append(path, 2, 2000)
    val expected = rows(read(path))
    val appended = new AtomicInteger()
    // And while it runs: between two groups.
    val result = prepared(rebalance, plan)
      .onRecords { _ =>
        if (appended.getAndIncrement() == 1) append(path, 1, 2000)
      }
      .run()
    assert(result.failures().isEmpty && result.groups() == 4)
    assert(rows(read(path)).take(expected.size) == expected)
    assert(read(path).count() == expected.size + 50)
    requireNoOrphan(path)
  }

  test("records are told while a task rewrites them, and each once") {
    val context = spark.sparkContext
    val counter = context.longAccumulator
    val told = new AtomicLong()
    val progress = new TaskProgress(
      "one group",
      counter.id,
      (records: Long) => {
        told.addAndGet(records)
        heard.countDown()
      }
    )
    val arrivals = new AtomicInteger()
    val others = new SparkListener {
      override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
        if (update.accumUpdates.exists(_._4.exists(_.id == counter.id))) {
          arrivals.incrementAndGet()
          arrived.countDown()
        }
    }
    listening(progress) {
      listening(others) {
        // The control: jobs of others count with the same accumulator, and their counts are not
        // reported.
        context.setJobDescription("another group")
        context.parallelize(Seq(1), 1).foreach { _ =>
          counter.add(100)
          require(RebalanceSuite.arrived.await(60, TimeUnit.SECONDS))
        }
        assert(arrivals.get() > 0 && told.get() == 0)
        context.setJobDescription("one group")
        context.parallelize(Seq(1), 1).foreach { _ =>
          counter.add(5)
          require(RebalanceSuite.heard.await(60, TimeUnit.SECONDS))
        }
      }
    }
    assert(told.get() == 5)
    progress.tell(8)
    progress.tell(3)
    assert(told.get() == 8)
    context.setJobDescription(null)

    val path = table(4)
    val total = new AtomicLong()
    val rebalance = Rebalance.of(spark, path).options(pairs)
    prepared(rebalance, rebalance.plan()).onRecords(records => total.set(records)).run()
    assert(total.get() == 200)
  }

  test("a group that somebody else replaced fails alone") {
    val path = table(8)
    val expected = rows(read(path))
    val rebalance = Rebalance.of(spark, path).options(pairs)
    val plan = rebalance.plan()
    assert(
      Rebalance.of(spark, path).options(pairs.withIndices(0, 100)).run().failures().isEmpty
    )
    val result = prepared(rebalance, plan).run()
    assert(result.groups() == 3)
    assert(result.failures().size() == 1)
    assert(result.failures().get(0).firstIndex() == 0)
    assert(rows(read(path)) == expected)
    requireNoOrphan(path)
  }

  test("a group with a damaged value fails alone, without another attempt") {
    val path = table(8)
    damageLastValue(path, 3)
    val failedTasks = new AtomicInteger()
    listening(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (end.taskInfo.failed) failedTasks.incrementAndGet()
    }) {
      val result = Rebalance.of(spark, path).options(pairs).run()
      assert(result.groups() == 3)
      assert(result.failures().size() == 1)
      assert(result.failures().get(0).firstIndex() == 100)
      assert(result.failures().get(0).reason().contains("checksum"))
    }
    assert(failedTasks.get() == 0)
    requireNoOrphan(path)
    val sound = read(path).where("_index < 100 or _index >= 200")
    assert(sound.selectExpr("sum(id)").head().getLong(0) == (0 until 400).sum - (100 until 200).sum)
  }

  testLocally(
    "a task whose storage fails is run again; one that fails for good fails its group alone"
  ) {
    val path = table(8)
    val shards = snapshot(path).shards()
    // Nothing was read before, so nothing is cached, and each attempt opens the file.
    val failures = new AtomicInteger()
    val away = "/" + shards.get(2).directory() + "/"
    TaskFaultsFileSystem.fault = (task, request, file) =>
      if (request == "open" && file.contains(away) && task.attemptNumber() < 2) {
        failures.incrementAndGet()
        throw new IOException("the storage fails for a while")
      }
    try
      setting(TaskFaultsFileSystem.Settings.toSeq: _*) {
        val failing = s"${TaskFaultsFileSystem.Scheme}://$path"
        val result = Rebalance.of(spark, failing).options(pairs.withIndices(100, 200)).run()
        assert(result.failures().isEmpty, result)
      }
    finally TaskFaultsFileSystem.fault = (_, _, _) => ()
    assert(failures.get() == 2)
    // A file that is a link to itself: an error of the storage that damages no data, and at no
    // moment a missing file.
    val hidden = tablesOf(Paths.get(path, shards.get(4).directory()))
    val aside = hidden.resolveSibling("aside")
    Files.move(hidden, aside)
    Files.createSymbolicLink(hidden, hidden.getFileName)
    val result = Rebalance.of(spark, path).options(pairs.withIndices(200, 400)).run()
    assert(result.groups() == 1)
    assert(result.failures().size() == 1, result)
    assert(result.failures().get(0).firstIndex() == 200)
    assert(result.failures().get(0).reason().contains("failed 4 times"), result)
    Files.move(aside, hidden, StandardCopyOption.ATOMIC_MOVE)
    requireNoOrphan(path)
    assert(read(path).select("id", "_index").collect().toSeq == (0L until 400L).map(i => Row(i, i)))
  }

  test("a run that is cancelled keeps what it committed and begins nothing more") {
    val path = table(8, 3 << 20)
    val expected = rows(read(path))
    val rebalance = Rebalance.of(spark, path).options(pairs.withCompression(slow)).concurrency(1)
    val isCancelling = new CountDownLatch(1)
    @volatile var isOver = false
    // Again and again: between two groups no job runs.
    lazy val canceller = {
      val thread = new Thread(() =>
        eventually {
          spark.sparkContext.cancelAllJobs()
          isCancelling.countDown()
          isOver
        }
      )
      thread.start()
      thread
    }
    val run = prepared(rebalance, rebalance.plan()).onRecords { records =>
      if (records >= 150) {
        assert(canceller.isAlive)
        isCancelling.await()
      }
    }
    val message =
      try failure(run.run())
      finally { isOver = true; canceller.join() }
    assert(message.contains("was cancelled"), message)
    assert((2L to 7L).contains(snapshot(path).version()))
    assert(rows(read(path)) == expected)
    requireFewOrphans(path, 1)
    assert(Rebalance.of(spark, path).options(pairs).run().failures().isEmpty)
    assert(rows(read(path)) == expected)
  }

  test("an interrupt ends a run and its tasks") {
    val path = table(8, 3 << 20)
    val expected = rows(read(path))
    val rebalance = Rebalance.of(spark, path).options(pairs.withCompression(slow)).concurrency(2)
    val run = prepared(rebalance, rebalance.plan())
    val outcome = new AtomicReference[String]("")
    val runner = new Thread(() => outcome.set(failure(run.run())))
    // Groups are missing until 400 records are rewritten, so the run cannot end before it hears.
    run.onRecords(records => if (records >= 150) runner.interrupt())
    runner.start()
    runner.join()
    assert(outcome.get().contains("Interrupted"), outcome)
    assert(rows(read(path)) == expected)
    assert(eventually(spark.sparkContext.statusTracker.getActiveJobIds().isEmpty))
    requireFewOrphans(path, 2)
  }

  /** A task that was done when its job was cancelled has left its shard to a sweep. */
  private def requireFewOrphans(path: String, running: Int): Unit = {
    def excess = filesOf(path).shards -- named(path)
    assert(eventually(excess.size <= running), excess)
    assert(named(path).subsetOf(filesOf(path).shards))
  }

  test("data frames of older versions and tags go on") {
    val path = table(4)
    tableAt(path).tag(0, "before")
    val expected = rows(read(path))
    val frame = read(path)
    val tagged = read(path, "tag" -> "before")
    val iterator = read(path, "numPartitions" -> "4").select("id").toLocalIterator()
    assert(iterator.next().getLong(0) == 0)
    assert(Rebalance.of(spark, path).options(pairs).run().groups() == 2)
    assert(rows(frame) == expected)
    assert(rows(tagged) == expected)
    var next = 1L
    while (iterator.hasNext) { assert(iterator.next().getLong(0) == next); next += 1 }
    assert(next == expected.size)
  }

  test("the command: a plan, a run, nothing left, and what is refused") {
    val path = table(4)
    val expected = rows(read(path))
    val files = filesOf(path).names
    val sizes = Seq("--min-shard-bytes", "1m", "--target-shard-bytes", "1m")
    def run(arguments: String*): CommandInProcess =
      CommandInProcess.run(new RebalanceJob(), arguments: _*)
    val plan = run(path +: "--dry-run" +: sizes: _*)
    assert(plan.exitCode == 0, plan.err)
    assert(plan.out.matches("""\{"version":0,"groups":2,"records":200,.*\}\n"""), plan.out)
    assert(plan.err.contains("would rewrite 2 shards, records 0 to 99"))
    assert(filesOf(path).names == files)

    damageLastValue(path, 1)
    val done = SubmittedProcess.start("io.zrecord.spark.Rebalance", path +: sizes: _*)
    assert(done.exitCode() == 3, done.err)
    assert(
      done.out.matches("""\{"groups":1,"records":100,"shardsBefore":2,.*"groupsFailed":1,.*\}\n"""),
      done.out
    )
    assert(done.out.contains(""""utilizationBefore":"""))
    assert(done.out.contains("""checksum"""))
    assert(rows(read(path).where("_index >= 100")) == expected.drop(100))
    assert(snapshot(path).properties().get("applicationName") == "io.zrecord.spark.Rebalance")

    val nothing = run(freshPath())
    assert(nothing.exitCode == 2 && nothing.err.contains("There is no zrecord table"), nothing.err)
    val wrong = run(path, "--min-utilization", "2")
    assert(wrong.exitCode == 2 && wrong.err.contains("0 to 1"), wrong.err)
    val help = run("--help")
    assert(help.exitCode == 0 && help.out.contains("--target-shard-bytes"), help.err)
  }

  private def slow = java.util.Map.of("bin", Compression.of(Codec.FLATE))

  private def prepared(rebalance: Rebalance, plan: RebalancePlan) = rebalance.prepare(plan)
}

object RebalanceSuite {
  val Mib: Long = 1L << 20

  /** Tasks run in this process. */
  private val heard = new CountDownLatch(1)
  private val arrived = new CountDownLatch(1)
}
