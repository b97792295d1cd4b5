package io.zrecord.spark

import java.nio.file.{Files, Paths}

import io.zrecord.RecordDatasetWriter
import io.zrecord.errors.ZRecordException
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.store.{RecordStore, StoreOptions}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.functions.{col, udf}

/** What a program catches: Spark's exception, with a condition and an SQL state of this Spark. */
class SparkErrorsSuite extends SparkSuite {
  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog"
  )

  private lazy val path: String = {
    val written = freshPath()
    write(spark.range(3).toDF("id"), written, "append")
    written
  }

  private lazy val table: String = {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord location '$path'")
    name
  }

  private lazy val nowhere: String = freshPath()

  private val noPath: Seq[(String, () => Any)] = Seq(
    ("load", () => read(nowhere)),
    ("load of several paths", () => spark.read.format("zrecord").load(path, nowhere)),
    ("load of a pattern", () => read(nowhere + "*")),
    ("load of a view", () => read(nowhere, "view" -> "shards")),
    ("load of a version", () => read(nowhere, "versionAsOf" -> "0")),
    ("SQL", () => spark.sql(s"select * from zrecord.`$nowhere`")),
    ("SQL of a version", () => spark.sql(s"select * from zrecord.`$nowhere` version as of 0")),
    ("table", () => spark.table(s"zrecord.`$nowhere`")),
    (
      "a table without columns",
      () => spark.sql(s"create table ${freshTable()} using zrecord location '$nowhere'")
    )
  )

  private val noVersion: Seq[(String, () => Any)] = Seq(
    ("versionAsOf", () => read(path, "versionAsOf" -> "7")),
    ("tag", () => read(path, "tag" -> "release")),
    ("timestampAsOf", () => read(path, "timestampAsOf" -> "2001-01-01")),
    ("SQL by version", () => spark.sql(s"select * from zrecord.`$path` version as of 7")),
    ("SQL by tag", () => spark.sql(s"select * from zrecord.`$path` version as of 'release'")),
    (
      "SQL by time",
      () => spark.sql(s"select * from zrecord.`$path` timestamp as of '2001-01-01'")
    ),
    ("a table by version", () => spark.sql(s"select * from $table version as of 7")),
    ("a table by time", () => spark.sql(s"select * from $table timestamp as of '2001-01-01'")),
    (
      "an option of table()",
      () => spark.read.option("tag", "release").table(s"zrecord.`$path`").collect()
    )
  )

  private def other = spark.range(3).selectExpr("cast(id as string) id", "1 more")

  private val otherColumns: Seq[(String, () => Any)] = Seq(
    ("save", () => write(other, path, "append")),
    ("save of a type without a field", () => write(interval, path, "append")),
    ("save of a new dataset", () => write(interval, nowhere, "errorifexists")),
    (
      "save of two spellings",
      () => write(spark.range(1).selectExpr("id", "id ID"), nowhere, "append")
    ),
    ("a view of a store that has other fields since", () => viewOfChanged.collect()),
    ("load of paths that differ", () => spark.read.format("zrecord").load(path, differing)),
    ("a dataset without rows", () => spark.sql(s"create table zrecord.`$nowhere` ($noField)")),
    (
      "a dataset that replaces another",
      () => spark.sql(s"create or replace table zrecord.`$path` ($noField)")
    ),
    (
      "a table",
      () => spark.sql(s"create table ${freshTable()} ($noField) using zrecord location '$nowhere'")
    ),
    (
      "a table of a query",
      () =>
        spark.sql(
          s"create table ${freshTable()} using zrecord location '$nowhere'" +
            " as select interval '1' day id"
        )
    ),
    (
      "a table that replaces another",
      () => spark.sql(s"create or replace table $table ($noField) using zrecord")
    ),
    (
      "a table with other columns than its dataset",
      () => spark.sql(s"create table ${freshTable()} (id string) using zrecord location '$path'")
    )
  )

  /** A column whose type no field has. */
  private val noField = "id interval day"

  /** The shards of a store, made anew with other fields after Spark had loaded it. */
  private lazy val viewOfChanged: DataFrame = {
    def create(field: String): Unit = {
      val schema = RecordSchema.builder().field(field, ElementType.I64).build()
      RecordStore.create(Paths.get(store), schema, StoreOptions.defaults()).close()
    }
    create("id")
    val shards = read(store, "view" -> "shards")
    filesBelow(store).foreach(Files.delete)
    create("other")
    shards
  }

  private lazy val store: String = freshLocalPath()

  private lazy val differing: String = {
    val written = freshPath()
    write(other, written, "append")
    written
  }

  private def interval = spark.sql("select interval '1' day id")

  for (
    (condition, state, ways) <- Seq(
      ("PATH_NOT_FOUND", "42K03", noPath),
      ("TABLE_OR_VIEW_NOT_FOUND", "42P01", noVersion),
      ("INCOMPATIBLE_DATA_FOR_TABLE", "KD000", otherColumns)
    );
    (how, action) <- ways
  )
    test(s"$how: $condition") {
      val error = intercept[AnalysisException](action())
      assert(error.getErrorClass == condition, how)
      assert(error.getSqlState == state, how)
      assert(error.getMessage.contains(condition))
      assert(error.getCause.isInstanceOf[ZRecordException], how)
      assert(error.getMessage.contains(error.getCause.getMessage))
      assert(
        Seq(path, nowhere, differing, store, "spark_catalog.default").exists(
          error.getMessage.contains
        ),
        how
      )
    }

  /** A row whose making appends another row to a local dataset. */
  private def appendingTo(place: String): DataFrame = {
    val append = udf { (id: Long) =>
      val schema = RecordSchema.builder().field("id", ElementType.I64).build()
      val writer = RecordDatasetWriter.append(place, schema, WriteOptions.defaults())
      try {
        writer.newAppender().set("id", id).endRecord()
        writer.commit()
      } finally writer.close()
      id
    }
    spark.range(1).select(append(col("id")) as "id")
  }

  private def requireFailure(condition: String, state: String, place: String)(
      action: => Any
  ): Unit = {
    val error = intercept[RuntimeException](action)
    // Spark hides the class from Scala.
    assert(error.getClass.getSuperclass.getName == "org.apache.spark.SparkRuntimeException")
    val known = error.asInstanceOf[SparkThrowable]
    assert(known.getErrorClass == condition)
    assert(known.getSqlState == state)
    val cause = error.getCause.asInstanceOf[ZRecordException]
    for (words <- Seq(condition, place, cause.getMessage))
      assert(error.getMessage.contains(words), error.getMessage)
  }

  test("a conflict that is known when the write is planned") {
    requireFailure("ZRECORD_COMMIT_CONFLICT", "40001", path)(
      write(spark.range(1).toDF("id"), path, "append", "expectedVersion" -> "7")
    )
  }

  testLocally("a conflict that the commit meets") {
    val place = freshLocalPath()
    write(spark.range(3).toDF("id"), place, "append")
    requireFailure("ZRECORD_COMMIT_CONFLICT", "40001", place)(
      write(appendingTo(place), place, "overwrite")
    )
    assert(read(place).count() == 4)
  }

  testLocally("a dataset that somebody made meanwhile") {
    val place = freshLocalPath()
    val error = intercept[AnalysisException](write(appendingTo(place), place, "errorifexists"))
    assert(error.getErrorClass == "TABLE_OR_VIEW_ALREADY_EXISTS")
    assert(error.getMessage.contains(place))
    assert(read(place).count() == 1)
  }

  test("damage that is found when a query is planned") {
    val place = freshPath()
    write(spark.range(3).toDF("id"), place, "append")
    val files = filesOf(place)
    files.names.filter(_.startsWith("manifest/0")).foreach(files.flip(_, 100))
    requireFailure("ZRECORD_DATA_DAMAGED", "XX001", place)(read(place))
    requireFailure("ZRECORD_DATA_DAMAGED", "XX001", place)(
      spark.sql(s"insert into zrecord.`$place` values (1)")
    )
  }

  testLocally("a store that is being written") {
    val place = freshLocalPath()
    val schema = RecordSchema.builder().field("id", ElementType.I64).build()
    val open = RecordStore.create(Paths.get(place), schema, StoreOptions.defaults())
    try
      requireFailure("ZRECORD_STORE_IN_USE", "55006", place)(
        write(spark.range(1).toDF("id"), place, "append")
      )
    finally open.close()
  }

  test("what Spark finds itself is Spark's exception as before") {
    for (
      action <- Seq[() => Any](
        () => write(spark.range(1).toDF("id"), path, "errorifexists"),
        () => spark.sql(s"insert into zrecord.`$path` select 'x' a, 'y' b"),
        () => read(path).select("nothing")
      )
    )
      assert(intercept[AnalysisException](action()).getSqlState != null)
  }
}
