package io.zrecord.spark

import org.apache.spark.sql.Row

/** CREATE TABLE LIKE, from one catalog into another and into itself. */
class TablesLikeSuite extends SparkSuite {
  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> freshPath(),
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** Registers a test of what Spark asks a catalog for from 4.2 on. */
  private def testLike(name: String)(body: => Any): Unit =
    test(name) {
      assume(spark.version >= "4.2", "older releases ask no catalog for CREATE TABLE LIKE")
      body
    }

  private def source(): String = {
    val name = s"lake.${freshTable()}"
    sql(
      s"create table $name (n bigint generated always as identity (start with 10 increment by 5)," +
        " label int default -1 comment 'a class', kind string not null, s struct<x: int>," +
        " constraint small check (label < 100)) partitioned by (kind)" +
        " comment 'of somebody' tblproperties ('team' = 'vision', 'zrecord.isolation' = 'snapshot')"
    )
    sql(s"insert into $name (label, kind) values (1, 'a'), (2, 'b')")
    name
  }

  testLike("a table of a catalog is copied without its records, with all that it declares") {
    val (from, to) = (source(), s"lake.${freshTable()}")
    sql(s"create table $to like $from")
    assert(spark.table(to).isEmpty)
    assert(spark.table(to).schema == spark.table(from).schema)
    def shown(name: String) = sql(s"show create table $name").head
      .getString(0)
      .replace(name.stripPrefix("lake."), "T")
      .replaceAll("(?i)location '[^']*'", "")
    assert(shown(to) == shown(from))
    sql(s"insert into $to (kind) values ('x')")
    assert(sql(s"select n, label, kind from $to") == Seq(Row(10L, -1, "x")))
    assert(failure(sql(s"insert into $to (label, kind) values (100, 'x')")).contains("small"))
    assert(failure(sql(s"create table $to like $from")).contains("TABLE_OR_VIEW_ALREADY_EXISTS"))
    sql(s"create table if not exists $to like $from")
  }

  testLike("what the statement says counts more than what the table has") {
    val (from, to) = (source(), s"lake.${freshTable()}")
    sql(s"create table $to like $from tblproperties ('team' = 'sound')")
    val properties = sql(s"show tblproperties $to").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(properties("team") == "sound" && properties("zrecord.isolation") == "snapshot")
    assert(
      failure(sql(s"create table lake.${freshTable()} like $from using parquet"))
        .contains("parquet")
    )
  }

  testLike("tables are like those of the session's catalog, at paths and like views, both ways") {
    val from = source()
    val (inSession, path, named) = (freshTable(), freshPath(), s"lake.${freshTable()}")
    sql(s"create table $inSession (id bigint, name string) using parquet")
    sql(s"create table $named like $inSession")
    assert(spark.table(named).columns.toSeq == Seq("id", "name"))
    sql(s"create table zrecord.`$path` like $named")
    sql(s"insert into zrecord.`$path` values (1, 'a')")
    assert(sql(s"select * from zrecord.`$path`") == Seq(Row(1L, "a")))
    spark.range(3).selectExpr("id", "id * 2 twice").createOrReplaceTempView("twice")
    val ofView = s"lake.${freshTable()}"
    sql(s"create table $ofView like twice")
    assert(spark.table(ofView).columns.toSeq == Seq("id", "twice"))
    val back = freshTable()
    sql(s"create table $back like zrecord.`$path` using zrecord")
    sql(s"insert into $back values (2, 'b')")
    assert(sql(s"select * from $back") == Seq(Row(2L, "b")))
    val same = freshTable()
    sql(s"create table $same like $named")
    sql(s"insert into $same values (3, 'c')")
    assert(sql(s"select * from $same") == Seq(Row(3L, "c")))
    assert(sql(s"describe extended $same").exists(_.getString(1) == "zrecord"))
    val defaults = s"lake.${freshTable()}"
    sql(s"create table $defaults (id bigint, label int default 5) tblproperties ('team' = 'a')")
    val copied = freshTable()
    sql(s"create table $copied like $defaults")
    sql(s"insert into $copied (id) values (1)")
    assert(sql(s"select label from $copied") == Seq(Row(5)))
    assert(sql(s"show tblproperties $copied").map(_.getString(0)).contains("team"))
    val numbered = freshTable()
    sql(s"create table $numbered like $from using zrecord")
    sql(s"insert into $numbered (kind) values ('x')")
    assert(sql(s"select n, label, kind from $numbered") == Seq(Row(10L, -1, "x")))
    assert(failure(sql(s"insert into $numbered (label, kind) values (100, 'x')")).contains("small"))
  }
}
