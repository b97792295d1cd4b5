package io.zrecord.spark
package alone

import io.zrecord.table.RecordTable
import java.nio.file.{Files, Paths}

class SaveModesSuite extends SparkSuite {
  // Tasks send their messages by Spark's serializer, and many applications have set this one.
  override protected def contextSettings: Map[String, String] =
    Map("spark.serializer" -> "org.apache.spark.serializer.KryoSerializer")

  private def data(n: Long) = spark.range(0, n, 1, 2).toDF("id")

  for (mode <- Seq("errorifexists", "ignore", "append", "overwrite")) {
    test(s"$mode writes where nothing is") {
      val path = freshPath()
      write(data(100), path, mode)
      assert(read(path).collect().map(_.getLong(0)).toSet == (0L until 100L).toSet)
    }
  }

  test("the default mode refuses an existing dataset and leaves it alone") {
    val path = freshPath()
    write(data(100), path, "append")
    assert(failure(data(5).write.format("zrecord").save(path)).contains("already exists"))
    assert(read(path).count() == 100)
  }

  test("ignore leaves an existing dataset alone") {
    val path = freshPath()
    write(data(100), path, "append")
    write(data(5), path, "ignore")
    assert(read(path).count() == 100)
  }

  testLocally("an empty directory is something that exists, as for Spark's own sources") {
    for (format <- Seq("parquet", "zrecord")) {
      def directory() = Files.createDirectories(Paths.get(freshPath())).toString
      def save(mode: String, path: String): Unit =
        data(3).write.format(format).mode(mode).save(path)
      val refused = directory()
      assert(failure(save("errorifexists", refused)).contains("already exists"), format)
      save("ignore", refused)
      assert(filesBelow(refused).isEmpty, format)
      for (mode <- Seq("append", "overwrite")) {
        val path = directory()
        save(mode, path)
        assert(spark.read.format(format).load(path).count() == 3, s"$format $mode")
      }
    }
  }

  test("a write that failed is not in the way of the next") {
    val path = freshPath()
    val failing = spark.range(0, 10, 1, 1).selectExpr("id", "cast(raise_error('no') as string) x")
    assert(failure(failing.write.format("zrecord").save(path)).contains("no"))
    assert(eventually(filesOf(path).names.isEmpty))
    data(3).write.format("zrecord").save(path)
    assert(read(path).count() == 3)
  }

  test("append keeps the order of insertion") {
    val path = freshPath()
    write(data(100), path, "append")
    write(data(7), path, "append")
    assert(rows(read(path)).map(_.getLong(0)) == (0L until 100L) ++ (0L until 7L))
  }

  test("overwrite replaces records and columns, and the old version stays") {
    val path = freshPath()
    write(data(100), path, "append")
    write(data(3).selectExpr("cast(id as string) other"), path, "overwrite")
    assert(read(path).columns.toSeq == Seq("other"))
    assert(read(path).count() == 3)
    assert(read(path, "versionAsOf" -> "0").count() == 100)
  }

  test("a version is read by its tag, and says who wrote it") {
    val path = freshPath()
    write(data(100), path, "append")
    write(data(3), path, "overwrite")
    val table = tableAt(path)
    table.tag(0, "release-1.0")
    assert(read(path, "tag" -> "release-1.0").count() == 100)
    val query = s"select count(*) from zrecord.`$path` version as of 'release-1.0'"
    assert(spark.sql(query).first().getLong(0) == 100)
    val properties = table.version(1).properties()
    assert(properties.get("user") == spark.sparkContext.sparkUser)
    assert(properties.get("applicationId") == spark.sparkContext.applicationId)
    assert(properties.get("removedRecords") == "100")
  }

  test("zero records are a dataset") {
    for (mode <- Seq("errorifexists", "append", "overwrite")) {
      val path = freshPath()
      write(data(0), path, mode)
      assert(read(path).count() == 0)
      assert(read(path).collect().isEmpty)
      assert(read(path).columns.toSeq == Seq("id"))
      write(data(4), path, "append")
      assert(read(path).count() == 4)
    }
  }

  test("writeTo a path appends and overwrites") {
    val path = freshPath()
    write(data(10), path, "append")
    data(5).writeTo(s"zrecord.`$path`").append()
    assert(read(path).count() == 15)
  }

  test("SQL creates, inserts and replaces") {
    val path = freshPath()
    spark.sql(s"create table zrecord.`$path` as select id from range(10)")
    spark.sql(s"insert into zrecord.`$path` values (77)")
    assert(read(path).count() == 11)
    spark.sql(s"insert overwrite zrecord.`$path` select id from range(3)")
    assert(read(path).count() == 3)
    spark.sql(s"create or replace table zrecord.`$path` as select 'x' as letter")
    assert(read(path).collect().map(_.getString(0)).toSeq == Seq("x"))
    assert(
      spark.sql(s"select count(*) from zrecord.`$path` version as of 0").first().getLong(0) == 10
    )
    assert(failure(spark.sql(s"create table zrecord.`$path` (a int)")).contains("already exists"))
    assert(failure(spark.sql(s"drop table zrecord.`$path`")).contains("does not support dropping"))
    spark.sql(s"alter table zrecord.`$path` add columns (b int)")
    assert(read(path).columns.toSeq == Seq("letter", "b"))
  }

  test("a failing query creates nothing") {
    val path = freshPath()
    val failing = spark.range(0, 10, 1, 1).selectExpr("id", "raise_error('no') as x")
    assert(
      failure(failing.selectExpr("id", "cast(x as string) x").write.format("zrecord").save(path))
        .contains("no")
    )
    assert(!filesOf(path).names.exists(_.startsWith("manifest/")))
    assert(eventually(filesOf(path).names.isEmpty))
  }

  testLocally("a directory with other content is left alone") {
    val path = freshPath()
    Files.createDirectories(Paths.get(path))
    Files.write(Paths.get(path, "thesis.txt"), "words".getBytes("UTF-8"))
    for (mode <- Seq("errorifexists", "append", "overwrite")) {
      assert(failure(write(data(1), path, mode)).contains("thesis.txt"))
    }
    assert(filesOf(path).names.size == 1)
  }

  test("a transaction that took effect before leaves no files") {
    val path = freshPath()
    def append(): Unit =
      write(data(50), path, "append", "txnAppId" -> "nightly", "txnVersion" -> "3")
    append()
    val files = filesOf(path).names
    append()
    assert(read(path).count() == 50)
    assert(filesOf(path).names == files)
  }

  test(
    "a property that a dataset would not obey is refused, and what the message names is obeyed"
  ) {
    val query = "as select id from range(3)"
    def create(path: String, words: String): Unit =
      spark.sql(s"create table zrecord.`$path` $words $query")
    for (
      (property, remedy, said) <- Seq(
        ("compression='zstd'", "'write.compression'", "tblproperties ('write.compression'='zstd')"),
        ("compression='zstd'", "for a session", "options (compression='zstd')"),
        ("txnAppId='a'", "OPTIONS ('txnAppId' …)", "options (txnAppId='a', txnVersion='1')")
      )
    ) {
      val path = freshPath()
      assert(failure(create(path, s"tblproperties ($property)")).contains(remedy))
      create(path, s"using zrecord $said")
      assert(read(path).count() == 3)
      val made = tableAt(path).latest()
      val compression = made.schema().fields().get(0).compression().toString
      assert(compression.contains("zstd") == said.contains("compression"), said)
      assert(made.transactions().containsKey("a") == said.contains("txnAppId"), said)
    }
    val path = freshPath()
    assert(failure(create(path, "using parquet")).contains("parquet"))
  }
}
