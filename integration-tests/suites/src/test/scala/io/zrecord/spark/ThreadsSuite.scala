package io.zrecord.spark

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.SparkSession

/** The first use of the source, in any thread and session. */
class ThreadsSuite extends SparkSuite {

  /** Runs in a thread that knows no session, like threads of pools older than the session. */
  private def elsewhere(action: => Unit): Unit = {
    val failed = new AtomicReference[Throwable]()
    val thread = new Thread(() =>
      try {
        SparkSession.clearActiveSession()
        action
      } catch { case e: Throwable => failed.set(e) }
    )
    thread.start()
    thread.join()
    if (failed.get() != null) throw new AssertionError(failed.get())
  }

  // Each test has a session in which no catalog of this source was used before.

  test("a write, then a read, in a thread without an active session") {
    val session = spark.newSession()
    val path = freshPath()
    elsewhere {
      session.range(5).toDF("id").write.format("zrecord").save(path)
    }
    elsewhere(assert(spark.newSession().read.format("zrecord").load(path).count() == 5))
  }

  test("a read first, in a thread without an active session") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    elsewhere(assert(spark.newSession().read.format("zrecord").load(path).count() == 5))
    elsewhere(
      assert(spark.newSession().sql(s"select * from zrecord.`$path`").collect().length == 5)
    )
    elsewhere(assert(spark.newSession().table(s"zrecord.`$path`").count() == 5))
  }

  test("appends and overwrites first, in a thread without an active session") {
    for (mode <- Seq("append", "overwrite", "ignore")) {
      val path = freshPath()
      elsewhere(
        spark.newSession().range(5).toDF("id").write.format("zrecord").mode(mode).save(path)
      )
      assert(read(path).count() == 5)
    }
    val path = freshPath()
    elsewhere(spark.newSession().range(5).toDF("id").writeTo(s"zrecord.`$path`").create())
    elsewhere(spark.newSession().range(5).toDF("id").write.insertInto(s"zrecord.`$path`"))
    assert(read(path).count() == 10)
  }

  test("a second session, used from the first one's thread") {
    val path = freshPath()
    val other = spark.newSession()
    other.range(5).toDF("id").write.format("zrecord").save(path)
    assert(other.read.format("zrecord").load(path).count() == 5)
    assert(other.sql(s"select count(*) from zrecord.`$path`").head().getLong(0) == 5)
  }

  test("a session of its own has defaults of its own") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    val other = spark.newSession()
    other.conf.set("spark.datasource.zrecord.indices", "1,2")
    assert(other.table(s"zrecord.`$path`").collect().length == 2)
    assert(other.read.format("zrecord").load(path).collect().length == 2)
    assert(spark.table(s"zrecord.`$path`").collect().length == 5)
    elsewhere(assert(other.table(s"zrecord.`$path`").collect().length == 2))
  }

  test("the thread's own session stays") {
    val path = freshPath()
    val other = spark.newSession()
    elsewhere {
      SparkSession.setActiveSession(other)
      other.range(5).toDF("id").write.format("zrecord").save(path)
      assert(SparkSession.getActiveSession.contains(other))
    }
  }
}
