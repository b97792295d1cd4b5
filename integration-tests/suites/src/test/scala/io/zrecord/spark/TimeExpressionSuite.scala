package io.zrecord.spark

/** Times after `TIMESTAMP AS OF`, for a path and for a table of the session's catalog. */
class TimeExpressionSuite extends SparkSuite {
  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog"
  )

  private val isNewer = spark.version.takeWhile(_ != '.').toInt >= 4

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

  private def count(from: String): Long =
    spark.sql(s"select count(*) from $from").head().getLong(0)

  private val later = Seq(
    "'2999-01-01'",
    "timestamp'2999-01-01 00:00:00'",
    "date'2999-01-01'",
    "current_timestamp()",
    "now()",
    "current_timestamp() - interval 0 seconds",
    "current_timestamp() + interval '1' day",
    "date_sub(current_date(), -1)",
    "cast('2999-01-01' as timestamp)",
    "to_timestamp('2999/01/01', 'yyyy/MM/dd')",
    "timestamp_seconds(32472144000)",
    "make_date(2999, 1, 1)",
    "current_date() + 1"
  )

  for (time <- later) {
    test(s"a table is read as of $time")(assert(count(s"$table timestamp as of $time") == 3))

    test(s"a path is read as of $time") {
      assume(isNewer || time.startsWith("'") || time.contains("p'") || time.contains("e'2999-01"))
      assert(count(s"zrecord.`$path` timestamp as of $time") == 3)
      assert(count(s"(select * from zrecord.`$path` timestamp as of $time) x") == 3)
      assert(
        spark
          .sql(
            s"with x as (select * from zrecord.`$path` timestamp as of $time)" +
              s" select (select count(*) from zrecord.`$path` timestamp as of $time) from x"
          )
          .count() == 3
      )
    }
  }

  test("a time before the first version is an error that names the path") {
    assume(isNewer)
    for (time <- Seq("current_timestamp() - interval 1 hour", "date_sub(current_date(), 9)"))
      assert(failure(count(s"zrecord.`$path` timestamp as of $time")).contains(path), time)
  }

  test("an expression that is no time is refused with Spark's own words") {
    assume(isNewer)
    for (time <- Seq("'no time'", "no_function()", "null", "id", "rand()"))
      assert(failure(count(s"zrecord.`$path` timestamp as of $time")).nonEmpty, time)
  }
}
