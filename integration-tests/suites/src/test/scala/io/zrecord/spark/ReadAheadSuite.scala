package io.zrecord.spark

import java.util.Arrays
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

/** Threads that continue to read when their task is over. The thread that feeds a Python function
  * does so when a limit has enough rows.
  */
class ReadAheadSuite extends SparkSuite {
  for (columns <- Seq("id, bin, text", "bin, id, text, _index"))
    test(
      s"a task that ends while a thread reads its rows leaves right values or an error: $columns"
    ) {
      val path = freshPath()
      val data = spark.range(0, 20000, 1, 2).toDF("id")
      write(
        data
          .selectExpr("id", "cast(repeat(string(id % 10), 6000) as binary) bin", "string(id) text"),
        path,
        "append",
        "compression.bin" -> "lz4"
      )
      val bin = columns.split(", ").indexOf("bin")
      val id = columns.split(", ").indexOf("id")
      ReadAhead.clear()
      for (_ <- 1 to 5) {
        val rows = read(path, "batchRows" -> "512").selectExpr(columns.split(", ").toSeq: _*)
        val left = rows.queryExecution.toRdd.mapPartitions(ReadAhead.goOn(_, id, bin)).count()
        assert(left == 0)
      }
      ReadAhead.threads.forEach(_.join())
      assert(ReadAhead.wrong.get() == 0)
      assert(ReadAhead.right.get() > 0)
      // The dataset is as readable as before.
      assert(read(path).where("length(bin) = 6000").count() == 20000)
    }
}

object ReadAhead {
  val threads = new ConcurrentLinkedQueue[Thread]()
  val (right, wrong) = (new AtomicLong(), new AtomicLong())

  def clear(): Unit = {
    threads.clear()
    right.set(0)
    wrong.set(0)
  }

  /** Returns no rows as soon as a thread has read the first of them. */
  def goOn(rows: Iterator[InternalRow], id: Int, bin: Int): Iterator[InternalRow] = {
    val begun = new CountDownLatch(1)
    val task = TaskContext.get()
    val thread = new Thread(() =>
      try {
        belongTo(task)
        while (rows.hasNext) {
          val row = rows.next()
          val expected = new Array[Byte](6000)
          Arrays.fill(expected, ('0' + row.getLong(id) % 10).toByte)
          (if (Arrays.equals(row.getBinary(bin), expected)) right else wrong).incrementAndGet()
          begun.countDown()
        }
      } catch { case _: Exception => () } // The reader was closed.
      finally begun.countDown()
    )
    threads.add(thread)
    thread.start()
    begun.await()
    Iterator.empty
  }

  /** Makes this thread a thread of a task, like the threads that write to Python. */
  private def belongTo(task: TaskContext): Unit = {
    val contexts = Class.forName("org.apache.spark.TaskContext$")
    contexts
      .getMethod("setTaskContext", classOf[TaskContext])
      .invoke(contexts.getField("MODULE$").get(null), task)
  }
}
