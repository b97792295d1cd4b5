package io.zrecord.spark

import java.nio.file.{Files, Paths}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}
import io.zrecord.spark.path.DatasetPath

/** An action that a query runs meanwhile, in the same process. */
object MeanwhileAction {
  @volatile var action: () => Unit = () => ()

  /** What a second query runs meanwhile, given the id of its row. */
  @volatile var second: Long => Unit = (_: Long) => ()
}

/** Tables that queries create and replace in the session catalog: all of it or nothing. */
class SessionCatalogStagingSuite extends SessionTablesSuite {

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
    assert(isRefusalOfNull(failure(spark.sql(s"insert into $name values (null)")), "text"))
    spark.sql(s"insert into $name values ('a')")
    assert(spark.table(name).count() == 1)
  }

  test("each of several inserts of a statement says for which table and column a NULL is refused") {
    val Seq(first, second) = Seq.fill(2)(freshTable())
    for (name <- Seq(first, second))
      spark.sql(s"create table $name (text string not null) using zrecord")
    for ((x, y, refused) <- Seq(("'x'", "null", second), ("null", "'y'", first))) {
      val message = failure(
        spark.sql(
          s"from (select cast($x as string) x, cast($y as string) y from range(2))" +
            s" insert into $first select x insert into $second select y"
        )
      )
      assert(isRefusalOfNull(message, "text") && message.contains(refused), message)
    }
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
    assert(message.contains("has other files"), message)
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
}
