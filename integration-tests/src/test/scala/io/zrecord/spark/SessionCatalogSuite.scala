package io.zrecord.spark

/** Tables that the session's own catalog keeps, which it does for data sources like this one since
  * Spark 4.
  */
class SessionCatalogSuite extends SparkSuite {
  private val names = Iterator.from(1).map(n => s"session_table_$n")

  private def onNewer(name: String)(body: => Unit): Unit =
    test(name) {
      assume(spark.version.takeWhile(_ != '.').toInt >= 4)
      body
    }

  private def created(columns: String, suffix: String = ""): String = {
    val name = names.next()
    spark.sql(s"drop table if exists $name")
    spark.sql(s"create table $name $columns using zrecord location '${freshPath()}' $suffix")
    name
  }

  onNewer("a table that was declared has its columns, and no rows yet") {
    val name = created("(id bigint, name string)")
    assert(spark.table(name).columns.toSeq == Seq("id", "name"))
    assert(spark.table(name).collect().isEmpty)
    assert(spark.sql(s"select count(*) from $name").head().getLong(0) == 0)
  }

  onNewer("values are inserted by position and cast to what was declared") {
    val name = created("(id bigint, name string)")
    spark.sql(s"insert into $name values (1, 'a')")
    spark.sql(s"insert into $name select 2 as name, 'b' as id")
    spark.sql(s"insert into $name (name, id) values ('c', 3)")
    assert(
      spark.sql(s"select id, name from $name order by id").collect().map(_.toString).toSeq ==
        Seq("[1,a]", "[2,b]", "[3,c]")
    )
  }

  onNewer("insert overwrite replaces the rows") {
    val name = created("(id bigint)")
    spark.sql(s"insert into $name values (1), (2)")
    spark.sql(s"insert overwrite $name values (3)")
    assert(spark.table(name).collect().map(_.getLong(0)).toSeq == Seq(3))
  }

  onNewer("a table over a dataset that exists has its columns") {
    val path = freshPath()
    write(spark.range(5).selectExpr("id", "cast(id as string) text"), path, "append")
    val name = names.next()
    spark.sql(s"create table $name using zrecord location '$path'")
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    assert(spark.table(name).count() == 5)
  }

  onNewer("a declaration that the dataset does not fit is refused") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    val name = names.next()
    assert(
      failure {
        spark.sql(s"create table $name (id string) using zrecord location '$path'")
        spark.table(name).collect()
      }.contains("declared")
    )
  }
}
