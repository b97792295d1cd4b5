package io.zrecord.spark

import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentHashMap

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.path.SparkStorages
import io.zrecord.storage.Storage
import io.zrecord.store.{RecordStore, StoreOptions}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.expressions.UserDefinedFunction
import org.apache.spark.sql.functions.{col, lit, udf}

/** Overwrites whose query reads the dataset that they replace. */
class OverwriteOfItselfSuite extends SparkSuite {
  private def numbers(from: Long, to: Long) = spark.range(from, to, 1, 2).toDF("id")

  /** Writes version 0, which has 0 to 4, twice. */
  private def dataset(): String = {
    val path = freshPath()
    write(numbers(0, 5).union(numbers(0, 5)), path, "append")
    path
  }

  private def ids(path: String): Seq[Long] = read(path).collect().map(_.getLong(0)).sorted.toSeq

  private def newest(path: String): Long =
    tableAt(path).latest().version()

  private val replacedAndAppended = (Seq(0, 0, 1, 1, 2, 2, 3, 3, 4, 4) ++ (5 until 8)).map(_.toLong)

  /** Writes version 1, which adds 5 to 7 after something was read. An overwrite with what was read
    * must lose nothing.
    */
  private def conflicts(path: String)(overwrite: => Any): Unit = {
    write(numbers(5, 8), path, "append")
    val message = failure(overwrite)
    for (
      part <- Seq(
        path,
        "reads version 0",
        "version 1 is the newest",
        "try again",
        "expectedVersion=1",
        "CommitConflictException"
      )
    )
      assert(message.contains(part), message)
    assert(newest(path) == 1)
    assert(ids(path) == replacedAndAppended)
  }

  private def overwrite(data: DataFrame, path: String): Unit = write(data, path, "overwrite")

  test("what was committed since the version that the query read is not lost") {
    val path = dataset()
    val old = read(path)
    conflicts(path)(overwrite(old.dropDuplicates(), path))
    overwrite(read(path).dropDuplicates(), path)
    assert(ids(path) == (0L until 8L))
  }

  test("a dataset is overwritten with what its newest version has, again and again") {
    val path = dataset()
    for (_ <- 1 to 3) overwrite(read(path).selectExpr("id + 1 id").dropDuplicates(), path)
    assert(ids(path) == (3L until 8L))
    spark.sql(s"insert overwrite zrecord.`$path` select id * 2 from zrecord.`$path`")
    spark.sql(s"create or replace table zrecord.`$path` as select id from zrecord.`$path`")
    assert(ids(path) == (3L until 8L).map(_ * 2))
  }

  for (
    (what, query) <- Seq[(String, DataFrame => DataFrame)](
      "a join" -> (old => old.join(spark.range(3).toDF("id"), "id")),
      "a union" -> (old => spark.range(3).toDF("id").union(old)),
      "an aggregation" -> (old => old.groupBy().max("id").toDF("id")),
      "a filter that leaves a scan of few records" -> (old => old.where("_index = 3").limit(1))
    )
  ) test(s"it is found below $what") {
    val path = dataset()
    val data = query(read(path))
    conflicts(path)(overwrite(data, path))
  }

  test("it is found in a subquery, a common table expression and behind a view") {
    val statements = Seq(
      "select id from range(9) where id in (select id from old)",
      "select id + (select max(id) from old) as id from range(2)",
      "with x as (select id from old), y as (select id from x) select * from y union select * from y"
    )
    for (query <- statements) {
      val path = dataset()
      read(path, "versionAsOf" -> "0").createOrReplaceTempView("old")
      conflicts(path)(spark.sql(s"insert overwrite zrecord.`$path` $query"))
    }
  }

  test("a view of a dataset without a version loses nothing, whichever version Spark reads") {
    val path = dataset()
    read(path).createOrReplaceTempView("old")
    val query = "select distinct id from old"
    if (loadsAgain) {
      write(numbers(5, 8), path, "append")
      spark.sql(s"insert overwrite zrecord.`$path` $query")
      assert(ids(path) == (0L until 8L))
    } else conflicts(path)(spark.sql(s"insert overwrite zrecord.`$path` $query"))
  }

  test("it is found however the overwrite is spelled") {
    val ways = Seq[(DataFrame, String) => Unit](
      (old, path) => old.writeTo(s"zrecord.`$path`").overwrite(lit(true)),
      (old, path) => old.writeTo(s"zrecord.`$path`").using("zrecord").createOrReplace(),
      (old, path) => old.writeTo(s"zrecord.`$path`").using("zrecord").replace(),
      (old, path) => old.write.mode("overwrite").insertInto(s"zrecord.`$path`"),
      (_, path) => spark.sql(s"create or replace table zrecord.`$path` as select * from old"),
      (_, path) =>
        spark.sql(s"with x as (select * from old) insert overwrite zrecord.`$path` select * from x")
    )
    for ((way, i) <- ways.zipWithIndex) {
      val path = dataset()
      val old = read(path)
      old.createOrReplaceTempView("old")
      write(numbers(5, 8), path, "append")
      val outcome =
        try { way(old, path); "written" }
        catch { case e: Throwable => messages(e) }
      // Newer releases resolve some of the tables once more, and then read what was appended.
      if (outcome != "written" || spark.version < "4.0") {
        assert(outcome.contains("reads version 0, but version 1 is the newest"), s"$i $outcome")
        assert(newest(path) == 1, i)
      }
      assert(ids(path) == replacedAndAppended, i)
    }
  }

  test("it is found when the version that was read is cached") {
    val path = dataset()
    val old = read(path).persist()
    old.count()
    try conflicts(path)(overwrite(old.dropDuplicates(), path))
    finally old.unpersist()
  }

  test("a cached table is not written over what came since") {
    val path = dataset()
    spark.sql(s"cache table zrecord.`$path`")
    // As another application would do.
    OverwriteOfItselfSuite.append(path)
    val outcome =
      try { spark.sql(s"insert overwrite zrecord.`$path` select id from zrecord.`$path`"); "" }
      catch { case e: Throwable => messages(e) }
    assert(outcome.isEmpty || outcome.contains("CommitConflictException"), outcome)
    assert(read(path, "versionAsOf" -> newest(path).toString).count() == 13)
  }

  testLocally("it is found through a link to the directory") {
    val path = dataset()
    val link = Files.createSymbolicLink(Paths.get(freshPath()), Paths.get(path))
    val old = read(link.toString)
    conflicts(path)(overwrite(old, path))
  }

  test("it is found among several paths") {
    val (path, other) = (dataset(), dataset())
    val both = spark.read.format("zrecord").load(other, path)
    conflicts(path)(overwrite(both, path))
  }

  test("other datasets may have been committed to, and copies have the same identity") {
    val (path, other) = (dataset(), dataset())
    val fromOther = read(other, "versionAsOf" -> "0")
    write(numbers(5, 8), other, "append")
    overwrite(fromOther, path)
    val (files, copy) = (filesOf(path), freshPath())
    files.names.foreach(name => filesOf(copy).storage.publish(name, files.bytes(name)))
    write(numbers(5, 8), path, "append")
    overwrite(read(copy), path)
    assert(ids(path) == Seq(0, 0, 1, 1, 2, 2, 3, 3, 4, 4))
  }

  test("an append may read an older version") {
    val path = dataset()
    val old = read(path, "versionAsOf" -> "0")
    write(numbers(5, 8), path, "append")
    write(old, path, "append")
    assert(read(path).count() == 23)
  }

  test("a commit while the query runs is a conflict") {
    val path = dataset()
    val committing = OverwriteOfItselfSuite.commitMeanwhile(path)
    val message =
      failure(overwrite(read(path).coalesce(1).select(committing(col("id")).as("id")), path))
    assert(message.contains("overwriting it would drop"), message)
    assert(newest(path) == 1 && ids(path) == replacedAndAppended)
  }

  test("an older version is restored by naming the version that it replaces") {
    val path = dataset()
    write(numbers(5, 8), path, "append")
    val old = read(path, "versionAsOf" -> "0")
    assert(failure(overwrite(old, path)).contains("expectedVersion=1"))
    assert(
      failure(write(old, path, "overwrite", "expectedVersion" -> "0"))
        .contains("version 0 was expected to be the newest, but version 1 is")
    )
    write(old, path, "overwrite", "expectedVersion" -> "1")
    assert(ids(path) == Seq(0, 0, 1, 1, 2, 2, 3, 3, 4, 4))
    write(numbers(5, 8), path, "append")
    old.writeTo(s"zrecord.`$path`").option("EXPECTEDversion", "3").overwrite(lit(true))
    write(numbers(5, 8), path, "append")
    read(path, "versionAsOf" -> "4").createOrReplaceTempView("old")
    spark.sql(
      s"create or replace table zrecord.`$path` options (expectedVersion='5') as select * from old"
    )
    assert(newest(path) == 6 && read(path).count() == 10)
  }

  test("a version can be expected of appends, which then do not follow other appends") {
    val path = dataset()
    write(numbers(5, 6), path, "append", "expectedVersion" -> "0")
    val message = failure(write(numbers(6, 7), path, "append", "expectedVersion" -> "0"))
    assert(message.contains("append to " + path) && message.contains("version 1 is"), message)
    val committing = OverwriteOfItselfSuite.commitMeanwhile(path)
    val racing = numbers(7, 8).coalesce(1).select(committing(col("id")).as("id"))
    assert(
      failure(write(racing, path, "append", "expectedVersion" -> "1"))
        .contains("version 1 was expected to be the newest, but version 2 is")
    )
    assert(newest(path) == 2 && read(path).count() == 14)
    val files = filesOf(path).names
    assert(
      failure(write(numbers(0, 1), freshPath(), "append", "expectedVersion" -> "0"))
        .contains("there is none")
    )
    assert(
      failure(write(numbers(0, 1), path, "append", "expectedVersion" -> "-1")).contains("'-1'")
    )
    assert(filesOf(path).names == files)
  }

  testLocally("a store has no version to expect") {
    val path = freshPath()
    OverwriteOfItselfSuite.store(path)
    assert(
      failure(write(numbers(0, 1), path, "append", "expectedVersion" -> "0"))
        .contains("has no versions")
    )
    assert(read(path).count() == 1)
  }

  test("a transaction that took effect is done, whatever version it read and expected") {
    val path = dataset()
    val old = read(path)
    def once(): Unit = write(
      old.dropDuplicates(),
      path,
      "overwrite",
      "txnAppId" -> "nightly",
      "txnVersion" -> "3",
      "expectedVersion" -> "0"
    )
    once()
    once()
    write(old, path, "overwrite", "txnAppId" -> "nightly", "txnVersion" -> "2")
    assert(newest(path) == 1 && ids(path) == (0L until 5L))
  }
}

object OverwriteOfItselfSuite {
  private val schema = RecordSchema.builder().field("id", ElementType.I64).build()

  /** Storages that nothing was appended to yet, by path: a task has no session to ask for them. */
  private val storages = new ConcurrentHashMap[String, Storage]()

  /** Appends 5 to 7 when the first row passes, as another application would while a task runs. */
  def commitMeanwhile(path: String): UserDefinedFunction = {
    storages.put(path, SparkStorages.storageFor(path))
    udf((id: Long) => {
      Option(storages.remove(path)).foreach(append)
      id
    })
  }

  /** Appends 5 to 7 without Spark. */
  def append(path: String): Unit = append(SparkStorages.storageFor(path))

  private def append(storage: Storage): Unit = {
    val writer = RecordDatasetWriter.append(storage, schema, WriteOptions.defaults())
    try {
      val appender = writer.newAppender()
      (5L until 8L).foreach(id => appender.set("id", id).endRecord())
      writer.commit()
    } finally writer.close()
  }

  /** A store of one record. */
  def store(path: String): Unit = {
    val store = RecordStore.create(Paths.get(path), schema, StoreOptions.defaults())
    try store.append(store.newValues().set("id", 7L))
    finally store.close()
  }
}
