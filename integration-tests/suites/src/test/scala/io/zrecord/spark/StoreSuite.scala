package io.zrecord.spark

import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{ElementType, FieldRules, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.path.SparkStorages
import io.zrecord.store.{RecordStore, StoreOptions}
import org.apache.commons.io.FileUtils

/** Stores that a service writes, as Spark sees them. */
class StoreSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "a store is a local directory"

  private val schema = RecordSchema
    .builder()
    .field("id", ElementType.I64)
    .field("text", ElementType.UTF8)
    .build()

  private def append(store: RecordStore, ids: Range): Unit =
    ids.foreach { id =>
      store.append(store.newValues().set("id", id.toLong).set("text", s"text $id"))
    }

  private def created(records: Int): String = {
    val path = freshPath()
    val store = RecordStore.create(Paths.get(path), schema, StoreOptions.defaults())
    try append(store, 0 until records)
    finally store.close()
    path
  }

  test("what is committed is read, also while the writer has it open") {
    val path = created(1000)
    val store = RecordStore.open(Paths.get(path), StoreOptions.defaults())
    try {
      store.update(3, store.newValues().set("text", "changed"))
      store.delete(0)
      store.commit()
      append(store, 5000 until 5010)
      val data = read(path)
      assert(data.count() == 999)
      assert(data.where("id = 3").head().getString(1) == "changed")
      assert(data.where("_index = 0").head().getLong(0) == 999)
      store.commit()
      assert(data.selectExpr("sum(id)").head().getLong(0) == (1 until 1000).map(_.toLong).sum)
      assert(read(path).count() == 1009)
      assert(
        spark.sql(s"select count(*) from zrecord.`$path` where id >= 5000").head().getLong(0) == 10
      )
    } finally store.close()
  }

  test("a table with other rules than those of a store is not read in its place") {
    val path = created(10)
    val held = read(path).where("id is null")
    FileUtils.deleteDirectory(Paths.get(path).toFile)
    val strict = schema.fields().asScala.map(_.withRules(FieldRules.NONE.withNullable(false)))
    val writer = RecordDatasetWriter.create(
      SparkStorages.storageFor(path),
      new RecordSchema(strict.asJava),
      WriteOptions.defaults()
    )
    writer.commit()
    writer.close()
    assert(failure(held.collect()).contains("its fields have changed"))
    assert(read(path).where("id is null").count() == 0)
  }

  test("a directory 'manifest' without a version does not hide a store") {
    val path = created(10)
    Files.createDirectory(Paths.get(path, "manifest"))
    assert(read(path).count() == 10)
    assert(spark.sql(s"select count(*) from zrecord.`$path`").head().getLong(0) == 10)
    assert(read(path).where("_index = 7").head().getLong(0) == 7)
  }

  test("a store is loaded without its entries, which only a scan reads") {
    val path = created(100)
    val entries = filesBelow(path).filter(file => file.toString.contains("text"))
    assert(entries.nonEmpty)
    def away(file: java.nio.file.Path) = file.resolveSibling(file.getFileName.toString + ".away")
    entries.foreach(file => Files.move(file, away(file)))
    val loaded = Seq(
      read(path),
      spark.table(s"zrecord.`$path`"),
      read(path, "view" -> "shards")
    )
    assert(loaded.head.columns.toSeq == Seq("id", "text"))
    assert(spark.sql(s"describe zrecord.`$path`").collect().nonEmpty)
    loaded.foreach(data => failure(data.collect()))
    entries.foreach(file => Files.move(away(file), file))
    assert(loaded.map(_.count()) == Seq(100L, 100L, 1L))
    assert(read(path).union(read(path)).count() == 200)
    val data = read(path)
    assert(data.as("a").join(data.as("b"), "id").count() == 100)
  }

  test("an append to a store copies no entries before it is committed") {
    val path = created(100)
    write(spark.range(100, 101, 1, 1).selectExpr("id", "'x' text"), path, "append")
    assert(!Files.exists(Paths.get(path, "snapshot")))
    assert(read(path).count() == 101)
  }

  test("a scan is one state while records change") {
    val path = created(20000)
    val store = RecordStore.open(Paths.get(path), StoreOptions.defaults())
    val isDone = new AtomicBoolean()
    val writer = new Thread(() => {
      var round = 1L
      while (!isDone.get()) {
        (0 until 20000 by 40).foreach { i =>
          store.update(i.toLong, store.newValues().set("text", s"round $round"))
        }
        store.delete(round % 20000)
        store.append(store.newValues().set("id", -round).set("text", "new"))
        store.commit()
        round += 1
      }
    })
    writer.start()
    try
      for (_ <- 1 to 5) {
        val data = read(path, "numPartitions" -> "8")
        assert(data.count() == 20000)
        assert(data.select("id").distinct().count() == 20000)
        assert(data.where("text like 'round %'").select("text").distinct().count() <= 1)
      }
    finally {
      isDone.set(true)
      writer.join()
      store.close()
    }
  }

  test("appending makes a table of a store, and not while it is open") {
    val path = created(100)
    val added = spark.range(100, 150, 1, 1).selectExpr("id", "concat('text ', id) text")
    val store = RecordStore.open(Paths.get(path), StoreOptions.defaults())
    try assert(failure(write(added, path, "append")).contains("has it open"))
    finally store.close()
    assert(RecordStore.exists(Paths.get(path)))
    write(added, path, "append")
    assert(rows(read(path)).map(_.getLong(0)) == (0L until 150L))
    assert(read(path, "versionAsOf" -> "0").count() == 100)
    assert(!RecordStore.exists(Paths.get(path)))
    assert(!Files.exists(Paths.get(path, "journal")))
    write(added, path, "append")
    assert(read(path).count() == 200)
  }

  test("a failed append leaves the store a store") {
    val path = created(10)
    val failing = spark.range(5).selectExpr("id", "raise_error('no') text")
    failure(write(failing.selectExpr("id", "cast(text as string) text"), path, "append"))
    val store = RecordStore.open(Paths.get(path), StoreOptions.defaults())
    try assert(store.length() == 10)
    finally store.close()
  }

  test("other modes and versions of a store are refused") {
    val path = created(10)
    val data = spark.range(5).selectExpr("id", "'x' text")
    assert(failure(write(data, path, "errorifexists")).contains("already exists"))
    assert(failure(write(data, path, "overwrite")).contains("store"))
    write(data, path, "ignore")
    assert(failure(read(path, "versionAsOf" -> "0").count()).contains("no versions"))
    assert(failure(write(spark.range(5).toDF("other"), path, "append")).contains("other"))
    assert(read(path).count() == 10)
  }

  test("snapshots are removed when they are not needed any more") {
    val path = created(10)
    assert(read(path).count() == 10)
    val directory = Paths.get(path, "snapshot")
    assert(eventually {
      System.gc()
      directory.toFile.list().length < 2
    })
  }

  test("a snapshot stays as long as an RDD of it") {
    val path = created(100)
    val ids = read(path).select("id").rdd
    (1 to 5).foreach(_ => System.gc())
    assert(ids.map(_.getLong(0)).sum() == 4950)
  }
}
