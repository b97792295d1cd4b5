package io.zrecord.spark

import java.nio.file.{Files, Paths}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, udf}
import io.zrecord.spark.path.DatasetPath

/** An action that a query runs meanwhile, in the same process. */
object MeanwhileAction {
  @volatile var action: () => Unit = () => ()

  /** What a second query runs meanwhile, given the id of its row. */
  @volatile var second: Long => Unit = (_: Long) => ()
}

/** Tables of the session catalog where ZRecordSessionCatalog is set. */
class SessionCatalogStagingSuite extends SparkSuite {
  override protected def configuration: Map[String, String] =
    Map("spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog")

  private def ids(table: String): Seq[Long] =
    spark.table(table).select("id").collect().map(_.getAs[Number](0).longValue).toSeq.sorted

  private def locationOf(table: String): String =
    spark
      .sql(s"describe table extended $table")
      .where("col_name = 'Location'")
      .head()
      .getString(1)
      .replaceFirst("^file:/*", "/")

  private def detail(table: String, name: String): Seq[String] =
    spark
      .sql(s"describe table extended $table")
      .where(s"col_name = '$name'")
      .collect()
      .map(_.getString(1))
      .toSeq

  private def dataset(count: Long): String = {
    val path = freshPath()
    write(spark.range(count).toDF("id"), path, "append")
    path
  }

  private def manifests(path: String): Int =
    filesOf(path).names.count(name => name.startsWith("manifest/") && name.endsWith(".json"))

  /** Requires the one file that says that a creation was taken back. */
  private def assertNothingButARetraction(path: String): Unit = {
    assert(
      filesOf(path).names.map(_.split('/').last) ==
        Set("00000000000000000001.json", "latest")
    )
    assert(!DatasetPath.of(path).exists())
  }

  private val failing =
    "select id, if(id = 3, cast(raise_error('on purpose') as bigint), id) v from range(5)"

  test("a managed table is created, filled and dropped with its files") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint, name string) using zrecord")
    assert(spark.table(name).collect().isEmpty)
    spark.sql(s"insert into $name values (1, 'a'), (2, 'b')")
    spark.sql(s"insert into $name (name, id) values ('c', 3)")
    assert(ids(name) == Seq(1, 2, 3))
    val path = locationOf(name)
    assert(manifests(path) == 2)
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
    assert(filesOf(path).names.isEmpty)
  }

  test("insert overwrite replaces the rows, and insertInto appends by position") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint) using zrecord")
    spark.sql(s"insert into $name values (1), (2)")
    spark.sql(s"insert overwrite $name values (3)")
    assert(ids(name) == Seq(3))
    spark.range(7, 9).toDF("other").write.insertInto(name)
    assert(ids(name) == Seq(3, 7, 8))
  }

  test("an external table has the columns of its dataset, and dropping it keeps the files") {
    val path = dataset(5)
    for (
      clause <- Seq(s"using zrecord location '$path'", s"using zrecord options (path '$path')")
    ) {
      val name = freshTable()
      spark.sql(s"create table $name $clause")
      assert(spark.table(name).columns.toSeq == Seq("id"))
      assert(ids(name) == Seq(0, 1, 2, 3, 4))
      spark.sql(s"drop table $name")
      assert(read(path).count() == 5)
    }
  }

  test("a table without columns and without a dataset is refused") {
    val name = freshTable()
    assert(failure(spark.sql(s"create table $name using zrecord")).contains("declare columns"))
    assert(!spark.catalog.tableExists(name))
  }

  test("a declaration that the dataset does not fit is refused when the table is created") {
    val path = dataset(5)
    val name = freshTable()
    val message =
      failure(spark.sql(s"create table $name (id string) using zrecord location '$path'"))
    assert(message.contains("declared"), message)
    assert(!spark.catalog.tableExists(name))
  }

  test("a query creates a managed table, which is dropped with its files") {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord comment 'squares' as select id from range(4)")
    assert(ids(name) == Seq(0, 1, 2, 3))
    assert(detail(name, "Type") == Seq("MANAGED"))
    assert(detail(name, "Comment") == Seq("squares"))
    val path = locationOf(name)
    assert(manifests(path) == 1)
    spark.sql(s"drop table $name")
    assert(filesOf(path).names.isEmpty)
  }

  test("a query creates an external table, whose files stay") {
    val name = freshTable()
    val path = freshPath()
    spark.sql(s"create table $name using zrecord location '$path' as select id from range(4)")
    assert(detail(name, "Type") == Seq("EXTERNAL"))
    assert(ids(name) == Seq(0, 1, 2, 3))
    spark.sql(s"drop table $name")
    assert(read(path).count() == 4)
  }

  test("a query that fails creates neither a table nor a dataset") {
    val name = freshTable()
    val path = freshPath()
    for (clause <- Seq("", s"location '$path'")) {
      val message = failure(spark.sql(s"create table $name using zrecord $clause as $failing"))
      assert(message.contains("on purpose"), message)
      assert(!spark.catalog.tableExists(name))
    }
    assert(manifests(path) == 0)
    spark.sql(s"create table $name using zrecord as select id from range(2)")
    assert(ids(name) == Seq(0, 1))
  }

  test("a query does not create a table where a dataset is") {
    val path = dataset(5)
    val name = freshTable()
    val message = failure(
      spark.sql(s"create table $name using zrecord location '$path' as select id from range(4)")
    )
    assert(message.contains("there is a dataset already"), message)
    for (mode <- Seq("errorifexists", "append", "ignore")) {
      val refusal = failure(
        spark.range(4).write.format("zrecord").mode(mode).option("path", path).saveAsTable(name)
      )
      assert(refusal.contains("there is a dataset already"), s"$mode: $refusal")
    }
    assert(!spark.catalog.tableExists(name))
    assert(read(path).count() == 5)
    assert(manifests(path) == 1)
  }

  test("a table is replaced by a query that reads it") {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(5)")
    spark.sql(s"create or replace table $name using zrecord as select id from $name where id > 1")
    assert(ids(name) == Seq(2, 3, 4))
    assert(detail(name, "Type") == Seq("MANAGED"))
    spark.sql(s"replace table $name using zrecord as select id + 10 id from $name")
    assert(ids(name) == Seq(12, 13, 14))
    assert(spark.sql(s"select * from $name version as of 0").count() == 5)
  }

  test("a query that fails replaces nothing") {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(5)")
    val files = filesOf(locationOf(name)).names.filter(_.endsWith(".zr"))
    for (
      statement <- Seq(
        s"create or replace table $name using zrecord as $failing",
        s"create or replace table $name using zrecord as select id, " +
          s"if(id = 3, cast(raise_error('on purpose') as bigint), id) v from $name"
      )
    ) assert(failure(spark.sql(statement)).contains("on purpose"))
    assert(spark.table(name).columns.toSeq == Seq("id"))
    assert(ids(name) == Seq(0, 1, 2, 3, 4))
    assert(files.subsetOf(filesOf(locationOf(name)).names))
  }

  test("a table is replaced by one with other columns, properties and comment") {
    val name = freshTable()
    val path = freshPath()
    spark.sql(
      s"create table $name using zrecord location '$path' comment 'old' " +
        "tblproperties ('a' = '1', 'b' = '2') as select id, 'x' text from range(5)"
    )
    spark.sql(
      s"create or replace table $name using zrecord comment 'new' " +
        s"tblproperties ('b' = '3') as select cast(id as string) text, id + 1 id from $name"
    )
    assert(spark.table(name).columns.toSeq == Seq("text", "id"))
    assert(ids(name) == Seq(1, 2, 3, 4, 5))
    assert(detail(name, "Comment") == Seq("new"))
    assert(detail(name, "Type") == Seq("EXTERNAL"))
    assert(locationOf(name) == path)
    val properties = spark.sql(s"show tblproperties $name").collect().map(_.getString(0)).toSet
    assert(properties.contains("b") && !properties.contains("a"))
    spark.sql(s"insert into $name values ('y', 9)")
    assert(ids(name) == Seq(1, 2, 3, 4, 5, 9))
  }

  test("a table is replaced by an empty one") {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(5)")
    spark.sql(s"create or replace table $name (text string not null) using zrecord")
    assert(spark.table(name).columns.toSeq == Seq("text"))
    assert(spark.table(name).count() == 0)
    assert(failure(spark.sql(s"insert into $name values (null)")).contains("NOT NULL"))
    spark.sql(s"insert into $name values ('a')")
    assert(spark.table(name).count() == 1)
  }

  test("a table is not replaced at another location or by another data source") {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(5)")
    val elsewhere = freshPath()
    assert(
      failure(
        spark.sql(
          s"create or replace table $name using zrecord location '$elsewhere' as select 1 id"
        )
      ).contains("leave LOCATION out")
    )
    assert(ids(name).length == 5)
    val other = freshTable()
    spark.sql(s"create table $other using parquet as select id from range(3)")
    assert(
      failure(spark.sql(s"create or replace table $other using zrecord as select 1 id"))
        .contains("drop the table first")
    )
    assert(ids(other) == Seq(0, 1, 2))
  }

  test("replacing a table that does not exist is an error, unless it may be created") {
    val name = freshTable()
    val message = failure(spark.sql(s"replace table $name using zrecord as select 1 id"))
    assert(message.toLowerCase.contains("cannot be found"), message)
    spark.sql(s"create or replace table $name using zrecord as select 1 id")
    assert(ids(name) == Seq(1))
  }

  test("saveAsTable in every mode") {
    val name = freshTable()
    def save(mode: String, from: Long, to: Long): Unit =
      spark.range(from, to).write.format("zrecord").mode(mode).saveAsTable(name)
    save("errorifexists", 0, 2)
    assert(ids(name) == Seq(0, 1))
    assert(failure(save("errorifexists", 0, 9)).contains("already exists"))
    save("ignore", 0, 9)
    assert(ids(name) == Seq(0, 1))
    save("append", 2, 4)
    assert(ids(name) == Seq(0, 1, 2, 3))
    save("overwrite", 7, 9)
    assert(ids(name) == Seq(7, 8))
    assert(manifests(locationOf(name)) == 3)
    spark
      .table(name)
      .where("id > 7")
      .write
      .format("zrecord")
      .mode("overwrite")
      .saveAsTable(name)
    assert(ids(name) == Seq(8))
  }

  test("writeTo creates, appends, overwrites and replaces") {
    val name = freshTable()
    spark.range(2).writeTo(name).using("zrecord").create()
    assert(failure(spark.range(2).writeTo(name).using("zrecord").create()).contains("exists"))
    spark.range(2, 4).writeTo(name).append()
    assert(ids(name) == Seq(0, 1, 2, 3))
    spark.range(5, 6).writeTo(name).overwrite(org.apache.spark.sql.functions.lit(true))
    assert(ids(name) == Seq(5))
    spark.range(6, 8).writeTo(name).using("zrecord").replace()
    assert(ids(name) == Seq(6, 7))
    spark.range(3).selectExpr("id", "'x' text").writeTo(name).using("zrecord").createOrReplace()
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    assert(ids(name) == Seq(0, 1, 2))
  }

  test("OPTIONS of a table are options of its writes, and unknown ones are refused") {
    val name = freshTable()
    assert(
      failure(
        spark.sql(s"create table $name (text string) using zrecord options (compresion 'zstd')")
      ).contains("compression")
    )
    spark.sql(s"create table $name (text string) using zrecord options (compression 'zstd')")
    spark.sql(s"insert into $name select repeat('a', 100000) from range(100)")
    spark.sql(s"insert into $name select repeat('b', 100000) from range(100)")
    assert(filesBelow(locationOf(name)).map(_.toFile.length()).sum < 1000000)
  }

  test("OPTIONS of a table are none of one write, which would drop later writes") {
    for (options <- Seq("txnAppId 'nightly', txnVersion '1'", "expectedVersion '0'")) {
      val name = freshTable()
      for (
        statement <- Seq(
          s"create table $name (id bigint) using zrecord options ($options)",
          s"create table $name using zrecord options ($options) as select id from range(3)"
        )
      ) {
        val message = failure(spark.sql(statement))
        assert(message.contains("is of one write"), message)
      }
      assert(!spark.catalog.tableExists(name))
    }
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(3)")
    for (_ <- 1 to 2)
      spark
        .range(2)
        .writeTo(name)
        .option("txnAppId", "nightly")
        .option("txnVersion", "1")
        .append()
    spark.sql(s"insert into $name select id from range(4)")
    assert(spark.table(name).count() == 3 + 2 + 4)
  }

  /** Rows of a query that meanwhile creates another table, so that it cannot create its own. */
  private def inTheWayOf(name: String): DataFrame = {
    MeanwhileAction.action = () => {
      val other =
        new Thread(() => spark.sql(s"create table if not exists $name (x int) using parquet"))
      other.start()
      other.join()
    }
    val act = udf { (id: Long) => MeanwhileAction.action(); id }
    spark.range(0, 3, 1, 1).select(act(col("id")) as "id")
  }

  testLocally("a table that was created meanwhile stays, and the data of the query does not") {
    for (isThere <- Seq(false, true)) {
      val name = freshTable()
      val path = freshPath()
      if (isThere) Files.createDirectory(Paths.get(path))
      val query = inTheWayOf(name)
      val message =
        failure(query.write.format("zrecord").option("path", path).saveAsTable(name))
      assert(message.contains("data was deleted"), message)
      assert(spark.table(name).columns.toSeq == Seq("x"))
      assertNothingButARetraction(path)
    }
  }

  test("an append that is under way where a table cannot be created keeps its files") {
    val name = freshTable()
    val path = freshPath()
    val end = new CountDownLatch(1)
    MeanwhileAction.second = id => if (id == 3) end.await(5, TimeUnit.MINUTES)
    val act = udf { (id: Long) => MeanwhileAction.second(id); id }
    @volatile var outcome: Option[Throwable] = None
    val append = new Thread(() =>
      try write(spark.range(0, 4, 1, 2).select(act(col("id")) as "id"), path, "append")
      catch { case e: Throwable => outcome = Some(e) }
    )
    append.start()
    try {
      // One of its two tasks is done, and the other waits.
      assert(eventually(filesOf(path).names.exists(_.endsWith(".tables"))))
      val query = inTheWayOf(name)
      val message =
        failure(query.write.format("zrecord").option("path", path).saveAsTable(name))
      assert(message.contains("data was deleted"), message)
      assert(manifests(path) == 1)
      assert(!DatasetPath.of(path).exists())
    } finally {
      end.countDown()
      append.join()
    }
    assert(outcome.isEmpty, outcome.map(messages).getOrElse(""))
    assert(rows(read(path)).map(_.getLong(0)) == Seq(0, 1, 2, 3))
    assert(filesOf(path).names.count(_.endsWith(".tables")) == 2)
  }

  test("a query that fails leaves no directory in the way of a table") {
    val name = freshTable()
    // The task has written stripes when it fails.
    val message = failure(
      spark.sql(
        s"create table $name using zrecord options (stripeBytes '65536') as " +
          "select if(id = 99999, cast(raise_error('on purpose') as bigint), id) id " +
          "from range(0, 100000, 1, 1)"
      )
    )
    assert(message.contains("on purpose"), message)
    spark.sql(s"create table $name (id bigint) using zrecord")
    spark.sql(s"insert into $name values (1)")
    assert(ids(name) == Seq(1))
  }

  test("a table whose entry cannot be made managed leaves neither an entry nor data") {
    val name = freshTable()
    val create = s"create table $name using zrecord as select id from range(3)"
    val message = RefusingMetastore.during(spark)(failure(spark.sql(create)))
    assert(message.contains("the metastore refuses"), message)
    assert(!spark.catalog.tableExists(name))
    spark.sql(create)
    assert(ids(name) == Seq(0, 1, 2))
    assert(detail(name, "Type") == Seq("MANAGED"))
    assert(manifests(locationOf(name)) == 2)
  }

  test("a creation that was taken back is not in the way of a table without a query") {
    val name = freshTable()
    val create = s"create table $name using zrecord as select id from range(3)"
    RefusingMetastore.during(spark)(failure(spark.sql(create)))
    spark.sql(s"create table $name (id bigint) using zrecord")
    assert(detail(name, "Type") == Seq("MANAGED"))
    assert(spark.table(name).collect().isEmpty)
    spark.sql(s"insert into $name values (1)")
    assert(ids(name) == Seq(1))
    val path = locationOf(name)
    spark.sql(s"drop table $name")
    assert(!Files.exists(Paths.get(path)))
    // Other files are in the way as ever.
    Files.createDirectories(Paths.get(path))
    Files.createFile(Paths.get(path, "other"))
    val message = failure(spark.sql(s"create table $name (id bigint) using zrecord"))
    assert(message.contains("already exists"), message)
  }

  test("a table of another data source is refused before it is dropped") {
    val name = freshTable()
    val source = classOf[OtherSource].getName
    spark.sql(s"create table $name (id bigint) using $source tblproperties ('kept' = 'yes')")
    for (
      statement <- Seq(
        s"create or replace table $name using $source as $failing",
        s"create or replace table $name using $source as select 1L id",
        s"replace table $name (id bigint) using $source"
      )
    ) {
      val message = failure(spark.sql(statement))
      val properties =
        if (spark.catalog.tableExists(name))
          spark.sql(s"show tblproperties $name").collect().map(_.getString(0)).toSeq
        else Seq("no table")
      assert(properties.contains("kept"), s"$statement: $message")
      assert(message.contains("drop the table and create it again"), s"$statement: $message")
    }
  }

  test("a table is renamed with its files") {
    for (create <- Seq("as select id from range(3)", "(id bigint)")) {
      val name = freshTable()
      val renamed = freshTable()
      if (create.startsWith("as")) spark.sql(s"create table $name using zrecord $create")
      else {
        spark.sql(s"create table $name $create using zrecord")
        spark.sql(s"insert into $name values (0), (1), (2)")
      }
      spark.sql(s"alter table $name rename to $renamed")
      assert(!spark.catalog.tableExists(name))
      assert(ids(renamed) == Seq(0, 1, 2))
      spark.sql(s"insert into $renamed values (3)")
      assert(ids(renamed) == Seq(0, 1, 2, 3))
    }
  }

  test("properties and comments are altered") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint) using zrecord tblproperties ('a' = '1')")
    spark.sql(s"insert into $name values (1)")
    spark.sql(s"alter table $name set tblproperties ('b' = '2')")
    spark.sql(s"alter table $name unset tblproperties ('a')")
    spark.sql(s"comment on table $name is 'numbers'")
    spark.sql(s"alter table $name alter column id comment 'an id'")
    val properties =
      spark.sql(s"show tblproperties $name").collect().map(r => r.getString(0) -> r.getString(1))
    assert(properties.contains("b" -> "2") && !properties.exists(_._1 == "a"))
    assert(detail(name, "Comment") == Seq("numbers"))
    assert(
      spark.sql(s"describe table $name").where("col_name = 'id'").head().getString(2) == "an id"
    )
    assert(ids(name) == Seq(1))
  }

  test("columns are changed while there is no dataset, and refused afterwards") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint) using zrecord")
    spark.sql(s"alter table $name add columns (text string)")
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    spark.sql(s"insert into $name values (1, 'a')")
    for (
      change <- Seq(
        "add columns (more int)",
        "rename column text to words",
        "drop column text",
        "alter column id type decimal(20, 0)"
      )
    ) {
      val message = failure(spark.sql(s"alter table $name $change"))
      assert(message.contains("mergeSchema=true"), s"$change: $message")
    }
    assert(spark.table(name).collect().toSeq == Seq(Row(1L, "a")))
  }

  test("tables of other data sources are Spark's concern") {
    val name = freshTable()
    spark.sql(s"create table $name using parquet as select id from range(3)")
    assert(ids(name) == Seq(0, 1, 2))
    spark.sql(s"insert into $name values (9)")
    spark.range(2).write.mode("append").saveAsTable(name)
    assert(ids(name) == Seq(0, 0, 1, 1, 2, 9))
    spark.range(2).write.format("parquet").mode("overwrite").saveAsTable(name)
    assert(ids(name) == Seq(0, 1))
    spark.sql(s"alter table $name add columns (text string)")
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    val path = Paths.get(locationOf(name))
    assert(Files.exists(path))
    spark.sql(s"drop table $name")
    assert(!Files.exists(path))
    spark.sql(s"create or replace temporary view ${name}_view as select 1 id")
    assert(ids(s"${name}_view") == Seq(1))
    spark.sql(s"create view ${name}_permanent as select 1 id")
    assert(ids(s"${name}_permanent") == Seq(1))
    spark.sql(s"drop view ${name}_permanent")
  }

  test("a table in another database") {
    val database = freshTable()
    spark.sql(s"create database $database")
    spark.sql(s"create table $database.t using zrecord as select id from range(3)")
    assert(ids(s"$database.t") == Seq(0, 1, 2))
    assert(locationOf(s"$database.t").contains(s"$database.db"))
    spark.sql(s"drop database $database cascade")
  }
}
