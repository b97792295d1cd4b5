package io.zrecord.spark

import java.io.File
import java.nio.file.Paths
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.CountDownLatch

import io.zrecord.errors.{CommitOutcomeUnknownException, StorageException}
import io.zrecord.storage.local.LocalStorage
import io.zrecord.table.RecordTable
import org.apache.spark.sql.functions.{col, udf}

/** Commits that fail, get lost or are interrupted, on the driver of a real write. */
class CommitFaultSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it counts and ages local files"

  override protected def configuration: Map[String, String] =
    Map("spark.sql.catalog.faulty" -> classOf[FaultyCatalog].getName)

  private def numbers(from: Long, to: Long) = spark.range(from, to, 1, 2).toDF("id")

  private def dataset(): String = {
    val path = freshPath()
    write(numbers(0, 10), path, "append")
    path
  }

  private def ids(path: String): Seq[Long] = rows(read(path)).map(_.getLong(0))

  private def shardsNamed(path: String): Int =
    RecordTable.at(LocalStorage.at(Paths.get(path))).latest().shards().size

  private def shardsThere(path: String): Int = new File(path, "shard").list().length

  private def isManifest(name: Option[Any]) = name.exists(_.toString.startsWith("manifest/"))

  private def unknown(path: String) =
    new CommitOutcomeUnknownException(path, "Cannot tell: the response was lost. Delete nothing")

  for (isPublished <- Seq(true, false))
    test(
      "an outcome that stays unknown is told and nothing is deleted, the version " +
        (if (isPublished) "being there" else "being absent")
    ) {
      val path = dataset()
      val (isDead, deletions) = (new AtomicBoolean(), new AtomicInteger())
      val table = FaultyCatalog.table(path) { (call, name, proceed) =>
        if (call == "delete") deletions.incrementAndGet()
        if (isDead.get() && Set("read", "list", "publish", "exists", "delete").contains(call))
          throw new StorageException(path, "The storage does not answer")
        if (call == "publish" && isManifest(name)) {
          if (isPublished) proceed()
          isDead.set(true)
          throw unknown(path)
        }
        proceed()
      }
      val message = failure(numbers(10, 20).writeTo(table).append())
      assert(
        message.contains("CommitOutcomeUnknown") && message.contains("Delete nothing"),
        message
      )
      assert(deletions.get() == 0)
      assert(shardsThere(path) == 4)
      assert(ids(path) == (0L until (if (isPublished) 20L else 10L)))
      write(numbers(30, 31), path, "append")
      assert(ids(path).last == 30)
    }

  test("a response that is lost is read back, and the rows are there once") {
    val path = dataset()
    val lost = new AtomicInteger()
    val table = FaultyCatalog.table(path) { (call, name, proceed) =>
      val result = proceed()
      if (call == "publish" && isManifest(name) && lost.incrementAndGet() == 1) throw unknown(path)
      result
    }
    numbers(10, 20).writeTo(table).append()
    assert(lost.get() == 1 && ids(path) == (0L until 20L))
    assert(shardsThere(path) == shardsNamed(path))
  }

  test("a publication that is refused leaves no files") {
    val path = dataset()
    val before = filesBelow(path).toSet
    val table = FaultyCatalog.table(path) { (call, name, proceed) =>
      if (call == "publish" && isManifest(name))
        throw new StorageException(path, "The disk is full")
      proceed()
    }
    assert(failure(numbers(10, 20).writeTo(table).append()).contains("The disk is full"))
    assert(filesBelow(path).toSet == before)
  }

  test("a job that fails before it publishes leaves what cannot be deleted to a sweep") {
    val path = dataset()
    val table = FaultyCatalog.table(path) { (call, name, proceed) =>
      if (call == "publish" && isManifest(name))
        throw new StorageException(path, "The disk is full")
      if (call == "delete") throw new StorageException(path, "The disk is read-only")
      proceed()
    }
    assert(failure(numbers(10, 20).writeTo(table).append()).contains("The disk is full"))
    assert(shardsThere(path) == 4 && shardsNamed(path) == 2)
    assert(CommitFaultSuite.orphans(path) == 2)
  }

  test("a driver that is interrupted at any call of a commit has published all or nothing") {
    val path = dataset()
    val driver = Thread.currentThread()
    var failures = 0
    def append(at: Long): (String, Int) = {
      val calls = new AtomicInteger()
      val table = FaultyCatalog.table(path) { (_, _, proceed) =>
        if ((Thread.currentThread() eq driver) && calls.incrementAndGet() == at) driver.interrupt()
        proceed()
      }
      val outcome =
        try { numbers(at * 100, at * 100 + 10).writeTo(table).append(); "written" }
        catch { case e: Throwable => messages(e) }
      Thread.interrupted()
      (outcome, calls.get())
    }
    val (whole, calls) = append(1000)
    assert(whole == "written" && calls > 5, calls)
    // Now and then a commit asks once more than the one before.
    for (at <- chosen(1L to calls + 2)) {
      val before = ids(path)
      val outcome = append(at)._1
      val all = before ++ (at * 100 until at * 100 + 10)
      val after = ids(path)
      if (outcome == "written") assert(after == all, at)
      else {
        failures += 1
        // Whether published or not, the dataset has one of both states, and every value is there.
        assert(after == before || (after == all && outcome.contains("Unknown")), s"$at: $outcome")
      }
    }
    assert(failures > 0, s"$calls calls")
    // Spark lets the tasks continue when Spark is interrupted while it waits for them.
    def orphans = CommitFaultSuite.orphans(path)
    assert(
      eventually(shardsThere(path) == shardsNamed(path) + orphans && orphans <= 2 * failures),
      s"$orphans orphans after $failures failures"
    )
  }

  test("cancelling the jobs of a write that is being published has no effect") {
    val path = dataset()
    val table = FaultyCatalog.table(path) { (call, name, proceed) =>
      if (call == "publish" && isManifest(name)) spark.sparkContext.cancelJobGroup("writing")
      proceed()
    }
    spark.sparkContext.setJobGroup("writing", "", interruptOnCancel = true)
    try numbers(10, 20).writeTo(table).append()
    finally spark.sparkContext.clearJobGroup()
    assert(ids(path) == (0L until 20L))
  }

  test("a write that is cancelled while it runs publishes nothing and leaves no files") {
    val path = dataset()
    val before = filesBelow(path).toSet
    val canceller = new Thread(() => {
      CommitFaultSuite.running.await()
      spark.sparkContext.cancelJobGroup("writing")
    })
    canceller.start()
    spark.sparkContext.setJobGroup("writing", "", interruptOnCancel = true)
    try {
      val waiting = CommitFaultSuite.waitWhenDone
      val message =
        failure(
          write(numbers(10, 20).coalesce(1).select(waiting(col("id")).as("id")), path, "append")
        )
      assert(message.contains("cancelled part of cancelled job group"), message)
    } finally spark.sparkContext.clearJobGroup()
    canceller.join()
    assert(eventually(filesBelow(path).toSet == before))
    write(numbers(10, 20), path, "append")
    assert(ids(path) == (0L until 20L))
  }
}

object CommitFaultSuite {
  val running = new CountDownLatch(1)
  private val never = new CountDownLatch(1)

  /** Waits at the last row until interrupted. */
  val waitWhenDone = udf((id: Long) => {
    if (id == 19) {
      running.countDown()
      never.await()
    }
    id
  })

  /** Counts shards that no version names, as a much later sweep finds them. */
  def orphans(path: String): Int = {
    def age(file: File): Unit = {
      Option(file.listFiles()).foreach(_.foreach(age))
      file.setLastModified(0)
    }
    age(new File(path))
    val found = new AtomicInteger()
    val options = io.zrecord.table.SweepOptions.defaults()
    RecordTable.at(LocalStorage.at(Paths.get(path))).sweep(options, _ => found.incrementAndGet())
    found.get()
  }
}
