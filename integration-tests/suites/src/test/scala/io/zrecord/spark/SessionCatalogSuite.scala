package io.zrecord.spark

/** Tables of the session's own catalog, which keeps tables of data sources like this one since
  * Spark 4.
  */
class SessionCatalogSuite extends SparkSuite {
  private def onNewer(name: String)(body: => Unit): Unit =
    test(name) {
      assume(spark.version.takeWhile(_ != '.').toInt >= 4)
      body
    }

  private def created(query: String): String = {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord location '${freshPath()}' as $query")
    name
  }

  onNewer("values are inserted by position and cast to the columns") {
    val name = created("select 0L id, 'x' name where false")
    assert(spark.sql(s"select count(*) from $name").head().getLong(0) == 0)
    spark.sql(s"insert into $name values (1, 'a')")
    spark.sql(s"insert into $name select 2 as name, 'b' as id")
    spark.sql(s"insert into $name (name, id) values ('c', 3)")
    assert(
      spark.sql(s"select id, name from $name order by id").collect().map(_.toString).toSeq ==
        Seq("[1,a]", "[2,b]", "[3,c]")
    )
  }

  onNewer("insert overwrite replaces the rows") {
    val name = created("select 1L id")
    spark.sql(s"insert overwrite $name values (3)")
    assert(spark.table(name).collect().map(_.getLong(0)).toSeq == Seq(3))
  }

  onNewer("a table over a dataset that exists has its columns") {
    val path = freshPath()
    write(spark.range(5).selectExpr("id", "cast(id as string) text"), path, "append")
    val name = freshTable()
    spark.sql(s"create table $name using zrecord location '$path'")
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    assert(spark.table(name).count() == 5)
  }

  private val remedy =
    "spark.sql.catalog.spark_catalog=io.zrecord.spark.ZRecordSessionCatalog"

  test("Spark 3 says what to set") {
    assume(spark.version.startsWith("3."))
    val name = freshTable()
    for (
      statement <- Seq(
        s"create table $name (id bigint) using zrecord",
        s"create table $name using zrecord as select 1 id",
        s"create or replace table $name using zrecord as select 1 id"
      )
    ) assert(failure(spark.sql(statement)).contains(remedy), statement)
    assert(!spark.catalog.tableExists(name))
  }

  onNewer("a table is not replaced in steps, and keeps its rows and files") {
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(5)")
    val warehouse = spark.conf.get("spark.sql.warehouse.dir").replaceFirst("^file:/*", "/")
    val files = filesBelow(s"$warehouse/$name")
    assert(files.nonEmpty)
    for (
      statement <- Seq(
        s"create or replace table $name using zrecord as select id from $name where id > 1",
        s"replace table $name using zrecord as select 1 id",
        s"create or replace table $name (id bigint) using zrecord"
      )
    ) assert(failure(spark.sql(statement)).contains(remedy), statement)
    assert(
      failure(
        spark.range(3).write.format("zrecord").mode("overwrite").saveAsTable(name)
      ).contains(remedy)
    )
    assert(
      failure(spark.range(3).writeTo(name).using("zrecord").createOrReplace()).contains(remedy)
    )
    assert(spark.table(name).count() == 5)
    assert(files.forall(java.nio.file.Files.exists(_)))
    spark.sql(s"insert overwrite $name select 7")
    assert(spark.table(name).count() == 1)
    spark.sql(s"drop table $name")
  }

  onNewer("a query does not create a table where a dataset is") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    val name = freshTable()
    for (
      create <- Seq[() => Any](
        () => spark.sql(s"create table $name using zrecord location '$path' as select 1L id"),
        () => spark.range(4).write.format("zrecord").option("path", path).saveAsTable(name),
        () =>
          spark
            .range(4)
            .write
            .format("zrecord")
            .mode("append")
            .option("path", path)
            .saveAsTable(name),
        () => spark.range(4).writeTo(name).using("zrecord").tableProperty("location", path).create()
      )
    ) {
      val message = failure(create())
      assert(message.contains("there is a dataset already"), message)
    }
    assert(!spark.catalog.tableExists(name))
    assert(read(path).count() == 5)
    spark.sql(s"create table $name using zrecord location '$path'")
    spark.range(4).write.format("zrecord").mode("append").saveAsTable(name)
    assert(read(path).count() == 9)
    spark.sql(s"create table if not exists $name using zrecord location '$path' as select 1L id")
    assert(read(path).count() == 9)
  }

  onNewer("a table is created by a query where nothing is") {
    val name = freshTable()
    val path = freshPath()
    spark.sql(s"create or replace table $name using zrecord location '$path' as select 1L id")
    assert(spark.table(name).count() == 1)
  }
}
