package io.zrecord.spark

import java.time.Duration
import java.util.UUID
import java.util.concurrent.{Callable, Executors}

import io.zrecord.rebalance.order.{Direction, RecordOrder}
import io.zrecord.spark.path.SparkStorages
import io.zrecord.storage.Storage
import io.zrecord.table.{ExpireOptions, Orphan, RecordTable, SweepOptions}
import org.apache.spark.sql.Row

/** What a data engineer does with a table that is not on a local disk. */
trait RemoteTests extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it has a server of its own"

  /** Returns the URI of a directory, in which each test has directories of its own. */
  protected def base: String

  override protected def isRepetition: Boolean = true

  protected def remotePath(): String = s"$base/table of ${UUID.randomUUID()} ä"

  protected def storage(path: String): Storage = SparkStorages.storageFor(path)

  private def data(count: Long) =
    spark.range(0, count, 1, 4).selectExpr("id", "string(id) name", "array(float(id), 0.5f) vector")

  test("written, read, appended, overwritten, queried in SQL and read as of an older version") {
    val path = remotePath()
    data(10000).write.format("zrecord").save(path)
    assert(rows(read(path)) == data(10000).selectExpr("*", "id as _index").collect().toSeq)
    write(data(10000), path, "append")
    assert(read(path).count() == 20000)
    val sum = spark.sql(s"select sum(id) from zrecord.`$path` where _index >= 10000")
    assert(sum.first().getLong(0) == 49995000L)
    assert(
      read(path).where("_index in (3, 19999)").select("name").collect().toSet ==
        Set(Row("3"), Row("9999"))
    )
    assert(failure(data(1).write.format("zrecord").mode("errorifexists").save(path)).nonEmpty)
    write(data(5), path, "overwrite")
    assert(read(path).count() == 5)
    assert(read(path, "versionAsOf" -> "1").count() == 20000)
    assert(read(path, "versionAsOf" -> "0").where("id = 77").select("name").head() == Row("77"))
  }

  test("values of every size, compressed or not, come back equal by scans and by indices") {
    val path = remotePath()
    val values = spark
      .range(0, 3000, 1, 3)
      .selectExpr(
        "id",
        "cast(repeat(md5(string(id)), 1 + int(id % 700)) as binary) bin",
        "repeat(string(id), int(id % 50)) text",
        "if(id % 7 = 0, null, id * 3) some"
      )
    for (compression <- Seq("raw", "zstd")) {
      write(values, path, "overwrite", "compression" -> compression)
      val hashed = Seq("id", "md5(bin)", "text", "some")
      assert(
        rows(read(path).selectExpr(hashed: _*)).map(_.toSeq.init) ==
          values.selectExpr(hashed: _*).collect().toSeq.map(_.toSeq)
      )
      val indices = Seq(2999, 0, 1717, 1718, 5)
      assert(
        read(path, "indices" -> indices.mkString(","))
          .selectExpr("id", "md5(bin)")
          .collect()
          .toSet ==
          values
            .where(s"id in (${indices.mkString(",")})")
            .selectExpr("id", "md5(bin)")
            .collect()
            .toSet
      )
      val sampled = read(path, "sampler" -> "shuffle", "seed" -> "7").selectExpr("id", "md5(bin)")
      assert(sampled.collect().toSet == values.selectExpr("id", "md5(bin)").collect().toSet)
    }
  }

  test("several paths are one dataset") {
    val paths = Seq(remotePath(), remotePath())
    paths.foreach(path => write(data(10), path, "append"))
    val local = freshLocalPath()
    write(data(10), local, "append")
    assert(spark.read.format("zrecord").load(paths :+ local: _*).count() == 30)
  }

  test("of appends at the same time none is lost") {
    val path = remotePath()
    write(data(1), path, "append")
    val threads = Executors.newFixedThreadPool(4)
    try {
      val appends = new java.util.ArrayList[Callable[Unit]]()
      (1 to 8).foreach(_ => appends.add(() => write(data(10).coalesce(1), path, "append")))
      threads.invokeAll(appends).forEach(_.get())
    } finally threads.shutdownNow()
    assert(read(path).count() == 81)
    assert(RecordTable.at(storage(path)).latest().version() == 8)
  }

  test("a write that fails changes nothing that is read") {
    val path = remotePath()
    write(data(10), path, "append")
    val broken = data(1000)
      .selectExpr("id", "if(id = 999, string(raise_error('broken')), name) name", "vector")
    assert(failure(write(broken, path, "append")).nonEmpty)
    assert(read(path).count() == 10)
    assert(RecordTable.at(storage(path)).latest().version() == 0)
  }

  test("small shards are joined, and every version reads as before") {
    val path = remotePath()
    (1 to 3).foreach(_ => write(data(100), path, "append"))
    val expected = rows(read(path))
    val result = Rebalance.of(spark, path).run()
    assert(result.failures().isEmpty && result.after().shards() == 1, result)
    assert(rows(read(path)) == expected)
    assert(read(path, "versionAsOf" -> "1").count() == 200)
  }

  test("a table is put into another order, tagged, verified, expired and swept") {
    val path = remotePath()
    (1 to 3).foreach(_ => write(data(100), path, "append"))
    val order = RecordOrder.by("id", Direction.DESCENDING)
    assert(Relayout.of(spark, path, order).run().records() == 300)
    assert(read(path).select("id").head().getLong(0) == 99)
    val table = RecordTable.at(storage(path))
    table.tag(1, "kept")
    assert(Verify.of(spark, path).allVersions().run().isSound)
    table.expire(ExpireOptions.defaults().withKeepVersions(1).withOlderThan(Duration.ofHours(1)))
    table.sweep(SweepOptions.defaults().withOlderThan(Duration.ofHours(1)), (_: Orphan) => ())
    assert(read(path).count() == 300)
    assert(read(path, "tag" -> "kept").count() == 200)
    assert(Verify.of(spark, path).allVersions().run().isSound)
  }
}
