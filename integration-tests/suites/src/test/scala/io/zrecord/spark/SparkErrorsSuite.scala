package io.zrecord.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.errors.ZRecordException
import io.zrecord.internal.table.TinyLists
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.store.{RecordStore, StoreOptions}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, lit, udf}

/** What a program catches: Spark's exception, with a condition and an SQL state of this Spark. */
class SparkErrorsSuite extends SparkSuite with PySparkSessions {
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
      requireParameters(error)
      assert(
        Seq(path, nowhere, differing, store, "spark_catalog.default").exists(
          error.getMessage.contains
        ),
        how
      )
    }

  /** Requires that a client can make the exception from its condition and parameters, as those of
    * Spark Connect in Scala and Java do. A condition with conditions of its own has no such text.
    */
  private def requireParameters(error: AnalysisException): Unit =
    if (error.getErrorClass != "INCOMPATIBLE_DATA_FOR_TABLE") {
      val parameters = error.getMessageParameters.asScala.toMap
      val made = new AnalysisException(error.getErrorClass, parameters)
      assert(made.getMessage.contains(parameters("path")))
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

  for (
    (how, overwrite) <- Seq[(String, (DataFrame, String) => Any)](
      "save" -> (write(_, _, "overwrite")),
      "INSERT OVERWRITE" -> { (old, place) =>
        old.createOrReplaceTempView("old")
        old.sparkSession.sql(s"insert overwrite zrecord.`$place` select id from old")
      },
      "overwrite" -> ((old, place) => old.writeTo(s"zrecord.`$place`").overwrite(lit(true))),
      "overwritePartitions" -> ((old, place) =>
        old.writeTo(s"zrecord.`$place`").overwritePartitions()
      ),
      "CREATE OR REPLACE" -> ((old, place) =>
        old.writeTo(s"zrecord.`$place`").using("zrecord").createOrReplace()
      )
    );
    (session, inSession) <- Seq[(String, (SparkSession => Any) => Any)](
      "a session" -> (_(spark)),
      "a session that was extended late" -> (inPySpark(_))
    )
  )
    test(s"a conflict of $how with its own query, in $session") {
      val place = freshPath()
      write(spark.range(3).toDF("id"), place, "append")
      inSession { session =>
        session.conf.set("spark.sql.catalog.zrecord", "io.zrecord.spark.ZRecordCatalog")
        val old = session.read.format("zrecord").option("versionAsOf", "0").load(place)
        write(session.range(1).toDF("id"), place, "append")
        requireFailure("ZRECORD_COMMIT_CONFLICT", "40001", place)(overwrite(old, place))
      }
      assert(read(place).count() == 4)
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
    requireParameters(error)
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

  test("damage of a list of shards") {
    val place = freshPath()
    TinyLists.run(() => write(spark.range(0, 8, 1, 4).toDF("id"), place, "append"))
    val files = filesOf(place)
    files.names.filter(_.startsWith("list/")).foreach(files.flip(_, 100))
    val sample = if (spark.version >= "4.2") Seq(" tablesample system (40 percent)") else Nil
    for (rest <- "" +: sample; statement = s"select id from zrecord.`$place`$rest")
      requireFailure("ZRECORD_DATA_DAMAGED", "XX001", place)(spark.sql(statement).collect())
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

  private def data = spark.range(1).toDF("id")

  /** What a program does at a place whose storage refuses every request. */
  private val refused: Seq[(String, String => Any)] = Seq[(String, String => Any)](
    "load" -> (read(_)),
    "load of a pattern" -> (place => read(place + "*")),
    "load of a view" -> (read(_, "view" -> "shards")),
    "load of a version" -> (read(_, "versionAsOf" -> "0")),
    "a save that appends" -> (write(data, _, "append")),
    "a save that overwrites" -> (write(data, _, "overwrite")),
    "a save of a new dataset" -> (write(data, _, "errorifexists")),
    "a save unless there is one" -> (write(data, _, "ignore")),
    "writeTo, append" -> (place => data.writeTo(s"zrecord.`$place`").append()),
    "writeTo, create" -> (place => data.writeTo(s"zrecord.`$place`").create()),
    "writeTo, replace" -> (place => data.writeTo(s"zrecord.`$place`").replace()),
    "saveAsTable" -> (place => data.write.mode("append").saveAsTable(s"zrecord.`$place`")),
    "saveAsTable with a path" -> (place =>
      data.write.format("zrecord").option("path", place).saveAsTable(freshTable())
    )
  ) ++ Seq(
    "select * from zrecord.`%p`",
    "select * from zrecord.`%p` version as of 0",
    "insert into zrecord.`%p` values (1)",
    "insert overwrite zrecord.`%p` values (1)",
    "create table zrecord.`%p` (id bigint)",
    "create table if not exists zrecord.`%p` (id bigint)",
    "create table zrecord.`%p` as select 1 id",
    "create or replace table zrecord.`%p` (id bigint)",
    "create or replace table zrecord.`%p` as select 1 id",
    "replace table zrecord.`%p` (id bigint)",
    "replace table zrecord.`%p` as select 1 id",
    "create table %t using zrecord location '%p'",
    "create table %t (id bigint) using zrecord location '%p'",
    "create table %t using zrecord location '%p' as select 1 id",
    "create or replace table %t using zrecord location '%p' as select 1 id"
  ).map(statement => statement -> { place: String => run(statement, place) })

  private def run(statement: String, place: String): Any =
    SparkSession.active.sql(statement.replace("%t", freshTable()).replace("%p", place))

  /** Does something while the storage of a place refuses every request. */
  private def atRefused(action: String => Any): Unit = atRefused(_ => (), action)

  /** Does the same, and something else before with the place, and with its path without a scheme.
    */
  private def atRefused(before: ((String, String)) => Any, action: String => Any): Unit = {
    val settings = CountingFileSystem.Settings
    val session = SparkSession.active
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    val key = CountingFileSystem.expectedKey
    val local = s"${freshLocalPath()}/private/tables/table"
    try {
      before((s"count://$local", local))
      CountingFileSystem.expectedKey = "another"
      action(s"count://$local")
    } finally {
      CountingFileSystem.expectedKey = key
      settings.keys.foreach(session.conf.unset)
    }
  }

  for ((how, action) <- refused)
    testLocally(s"a storage that refuses a request: $how") {
      atRefused { place =>
        requireFailure("ZRECORD_STORAGE_FAILURE", "58030", "/private/tables/table")(action(place))
      }
    }

  for (
    statement <- Seq(
      "select * from %t",
      "insert into %t values (1)",
      "create or replace table %t using zrecord as select 1 id",
      "alter table %t add column more int"
    )
  )
    testLocally(s"a storage that refuses a request for a table that was moved: $statement") {
      val moved = freshTable()
      spark.sql(s"create table $moved (id bigint) using zrecord")
      atRefused(
        { case (place, local) =>
          write(spark.range(1).toDF("id"), local, "append")
          spark.sql(s"alter table $moved set location '$place'")
        },
        _ =>
          requireFailure("ZRECORD_STORAGE_FAILURE", "58030", "/private/tables/table")(
            spark.sql(statement.replace("%t", moved)).collect()
          )
      )
    }

  testLocally("a storage that refuses a request, in a session with Spark's own catalog of tables") {
    assume(!spark.version.startsWith("3."), "Spark 3 keeps no tables of zrecord there")
    within(spark.newSession())(atRefused { place =>
      requireFailure("ZRECORD_STORAGE_FAILURE", "58030", "/private/tables/table")(
        run("create table %t using zrecord location '%p' as select 1 id", place)
      )
    })
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
