package io.zrecord.spark

import io.zrecord.spark.job.TaskJobs
import io.zrecord.spark.job.IndexTask
import io.zrecord.spark.path.TableLocation
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{Files, Paths, StandardOpenOption}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.util.Random

import io.zrecord.errors.{CommitConflictException, CorruptDataException}
import io.zrecord.rebalance.order.{Direction, RecordOrder}
import io.zrecord.storage.local.LocalStorage
import io.zrecord.table.TableSnapshot
import io.zrecord.testing.Budget
import org.apache.spark.api.java.JavaSparkContext

/** Spark gives a table the same order as one process does, or nothing changes. */
class RelayoutSuite extends RelayoutTables {
  private val kills = Budget.of(1)

  private def copy(path: String): String = {
    val (from, to) = (filesOf(path), freshPath())
    val copy = filesOf(to)
    from.names.foreach(name => copy.storage.publish(name, from.bytes(name)))
    to
  }

  private def lengths(version: TableSnapshot): Seq[Long] =
    (0 until version.shards().size()).map(i => version.shards().get(i).length())

  Seq[RecordOrder](
    RecordOrder.shuffle(42),
    RecordOrder.by("tie", Direction.ASCENDING),
    RecordOrder.by("text", Direction.DESCENDING)
  ).foreach { order =>
    test(s"the table and the map are those of one process: $order") {
      val path = write(1000)
      append(path, 3)
      val before = rows(read(path))
      val twin = copy(path)
      val alone =
        io.zrecord.rebalance.TableRelayout.of(snapshot(twin), order).layout(Layout, Mib).run()
      val result = relayout(path, order).concurrency(2).run()
      assert(rows(read(path)) == rows(read(twin)))
      assert(rows(read(path, "versionAsOf" -> "1")) == before)
      val version = snapshot(path)
      assert(
        newIndices(version.indexMap().get()) == newIndices(snapshot(twin).indexMap().get())
      )
      assert(lengths(version) == lengths(snapshot(twin)))
      assert(version.shards().size() == 4)
      assert(result.records() == alone.records() && result.valueBytes() == alone.valueBytes())
      assert(result.shardsBefore() == 6 && result.shardsAfter() == 4)
      assert(version.operation() == "relayout")
      assert(version.properties().get("order") == order.toString)
      assert(version.properties().get("applicationId") == spark.sparkContext.applicationId)
      assert(version.properties().get("user") == spark.sparkContext.sparkUser)
      requireNoOrphan(path)
      assert(Verify.of(spark, path).allVersions().run().isSound)
    }
  }

  test("one shard, one record, and orders that are none") {
    val path = write(1)
    assert(relayout(path, RecordOrder.by("id", Direction.ASCENDING)).run().records() == 1)
    assert(relayout(path, RecordOrder.shuffle(1)).run().shardsAfter() == 1)
    // Values that one process refuses to compare.
    val long = write(100)
    relayout(long, RecordOrder.by("bin", Direction.DESCENDING)).run()
    assert(
      read(long).orderBy("_index").select("id").collect().map(_.getLong(0)).toSeq ==
        (0L until 100).reverse
    )
    val message = failure(relayout(path, RecordOrder.by("nope", Direction.ASCENDING)).run())
    assert(message.contains("nope") && message.contains("id, tie, text, bin"), message)
    requireNoOrphan(path)
  }

  test("an order that is none is not written") {
    val path = write(10)
    val storage = filesOf(path).storage
    val jobs =
      new TaskJobs(JavaSparkContext.fromSparkContext(spark.sparkContext), storage, "test", "")
    Seq(
      "id" -> "",
      "if(id = 7, 6, id)" -> "record 6 .* twice",
      "id + if(id < 7, 0, 1)" -> "record 7 .* not at all"
    )
      .foreach { case (old, expected) =>
        val places = spark.range(0, 10, 1, 1).selectExpr("id new", s"$old old").javaRDD
        def run() = jobs.run(
          () =>
            places.mapPartitions(
              new IndexTask(TableLocation.of(storage), IndexTask.Kind.MAP, Layout)
            ),
          "map"
        )
        if (expected.isEmpty) table(path).discard(run())
        else assert(failure(run()).matches(s"(?s).*$expected.*"), old)
        requireNoOrphan(path)
      }
  }

  test("what is committed meanwhile is a conflict that ends the run early, and nothing is left") {
    val path = write(1000)
    val plan = relayout(path, RecordOrder.by("tie", Direction.ASCENDING)).concurrency(1)
    val done = new AtomicInteger()
    val run = plan.prepare(plan.plan()).onRecords { _ =>
      if (done.incrementAndGet() == 1) append(path, 3)
    }
    intercept[CommitConflictException](run.run())
    assert(done.get() == 1)
    assert(snapshot(path).version() == 1)
    assert(read(path).count() == 1003)
    requireNoOrphan(path)
  }

  testLocally("a damaged value changes nothing, and needs no other attempt to be found") {
    val path = write(1000)
    // A value that this process has found intact before is compared again, once in a run.
    assert(rows(read(path)).size == 1000)
    val chunk = chunkOf(Paths.get(path, snapshot(path).shards().get(2).directory()))
    val place = Files.size(chunk) - 9
    val byte = (Files.readAllBytes(chunk)(place.toInt) ^ 4).toByte
    val channel = FileChannel.open(chunk, StandardOpenOption.WRITE)
    try channel.write(ByteBuffer.wrap(Array(byte)), place)
    finally channel.close()
    // One job at a time: a job that is done while it is cancelled leaves its shard to a sweep.
    val run = relayout(path, RecordOrder.shuffle(1)).concurrency(1)
    val error = intercept[CorruptDataException](run.run())
    assert(error.getMessage.contains("checksum"), error)
    assert(snapshot(path).version() == 0)
    requireNoOrphan(path)
    val said = command(path, "--shuffle=1", "--change-indices")
    assert(said.exitCode == 1 && said.err.contains("checksum"), said)
  }

  testLocally("files of the order are not mapped when they are deleted") {
    val path = write(1000)
    relayout(path, RecordOrder.by("tie", Direction.ASCENDING)).run()
    def left = Files
      .readAllLines(Paths.get("/proc/self/maps"))
      .stream()
      .filter(map => map.contains(path) && map.endsWith("(deleted)"))
      .count()
    assert(eventually {
      // The garbage collector unmaps files.
      System.gc()
      left == 0
    })
  }

  test("a run that is interrupted ends the jobs that it waits for before its own") {
    val jobs = new TaskJobs(
      JavaSparkContext.fromSparkContext(spark.sparkContext),
      LocalStorage.at(Paths.get("/x")),
      "test",
      ""
    )
    RelayoutSuite.started = new CountDownLatch(1)
    RelayoutSuite.release = new CountDownLatch(1)
    val said = new AtomicReference[Throwable]()
    val runner = new Thread(() =>
      try
        jobs.run(
          () => {
            spark.sparkContext.parallelize(Seq(1), 1).foreach { _ =>
              RelayoutSuite.started.countDown()
              RelayoutSuite.release.await()
            }
            null
          },
          "planning"
        )
      catch { case e: Throwable => said.set(e) }
    )
    try {
      runner.start()
      RelayoutSuite.started.await()
      assert(eventually(spark.sparkContext.statusTracker.getActiveJobIds().length == 1))
      runner.interrupt()
      runner.join()
      assert(messages(said.get()).contains("Interrupted in a test"), said.get())
      assert(eventually(spark.sparkContext.statusTracker.getActiveJobIds().isEmpty))
    } finally RelayoutSuite.release.countDown()
  }

  testLocally("a run that is cancelled changes nothing") {
    val path = write(1000)
    val tasks = ConcurrentHashMap.newKeySet[Long]()
    // The third task cancels the jobs, and goes on when it was told to end.
    TaskFaultsFileSystem.fault = (task, _, _) => {
      tasks.add(task.taskAttemptId())
      if (tasks.size == 3) {
        spark.sparkContext.cancelAllJobs()
        assert(eventually(task.isInterrupted()))
      }
    }
    try
      setting(TaskFaultsFileSystem.Settings.toSeq: _*) {
        val order = RecordOrder.shuffle(1)
        val run = relayout(s"${TaskFaultsFileSystem.Scheme}://$path", order).concurrency(1)
        val message = failure(run.run())
        assert(message.contains("was cancelled, nothing changed"), message)
      }
    finally TaskFaultsFileSystem.fault = (_, _, _) => ()
    assert(snapshot(path).version() == 0)
    // A task that was done when its job was cancelled has left its shard to a sweep.
    assert(eventually((filesOf(path).shards -- named(path)).size <= 1))
  }

  test("the command: what it refuses, a plan, a run") {
    val path = write(100)
    val files = filesOf(path).names
    val refused = command(path, "--order-by=tie")
    assert(refused.exitCode == 2 && refused.err.contains("--change-indices"), refused)
    val unknown = command(path, "--order-by=nope", "--change-indices")
    assert(unknown.exitCode == 2 && unknown.err.contains("nope"), unknown)
    val unfit = command(path, "--shuffle=1", "--change-indices", "--max-bytes=1m")
    assert(unfit.exitCode == 2 && unfit.err.contains("does not go with another order"), unfit)
    val nothing = command(freshPath(), "--shuffle=1", "--change-indices")
    assert(nothing.exitCode == 2, nothing)
    val plan = command(path, "--order-by=tie:desc", "--dry-run")
    assert(plan.exitCode == 0, plan)
    assert(plan.out == """{"version":0,"order":"'tie' descending","records":100}""" + "\n")
    assert(filesOf(path).names == files)
    val done = command(path, "--order-by=tie:desc", "--change-indices", "--concurrency=2")
    assert(done.exitCode == 0, done)
    assert(
      done.out.matches("""\{"version":1,"order":"'tie' descending",.*"indexMap":"shard/.*\n""")
    )
    assert(read(path).orderBy("_index").select("tie").head().getLong(0) == 9)
  }

  test(s"drivers that are killed leave the old or the new version, whole ($seed)") {
    val random = new Random(seed)
    for (kill <- 0 until kills) {
      val path = write(20000)
      val before = rows(read(path))
      val process = SubmittedProcess.start(
        "io.zrecord.spark.Rebalance",
        path,
        "--order-by=text",
        "--change-indices",
        "--target-shard-bytes=1m"
      )
      val shards = filesOf(path).shards.size + 1 + random.nextInt(5)
      assert(
        eventually(!process.isAlive || filesOf(path).shards.size >= shards, 300),
        process.err
      )
      process.kill()
      assert(rows(read(path, "versionAsOf" -> "0")) == before, s"kill $kill")
      assert(snapshot(path).version() <= 1)
      assert(Verify.of(spark, path).allVersions().run().isSound, s"kill $kill")
      assert(named(path).subsetOf(filesOf(path).shards))
      relayout(path, RecordOrder.by("text", Direction.ASCENDING)).run()
      assert(read(path).count() == before.size)
    }
  }
}

object RelayoutSuite {

  /** State of a task in this process. */
  @volatile var started: CountDownLatch = _
  @volatile var release: CountDownLatch = _
}
