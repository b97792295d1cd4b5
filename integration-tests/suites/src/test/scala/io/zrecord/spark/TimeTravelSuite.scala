package io.zrecord.spark

import io.zrecord.table.RecordTable
import org.apache.spark.sql.DataFrame

/** Every way to name a version of a dataset is obeyed or refused. */
class TimeTravelSuite extends SparkSuite {

  /** Writes three rows, tags version 0 as `v1`, then writes two more rows: version 2. */
  private def tagged(): String = {
    val path = freshPath()
    write(spark.range(3).toDF("id"), path, "append")
    tableAt(path).tag(0, "v1")
    write(spark.range(2).toDF("id"), path, "append")
    path
  }

  private def isNewer = spark.version.takeWhile(_ != '.').toInt >= 4

  private def table(path: String, options: (String, String)*): DataFrame =
    spark.read.options(options.toMap).table(s"zrecord.`$path`")

  private def afterFirst(path: String): String =
    tableAt(path).version(0).timestamp().toString

  private def withDefault[T](option: (String, String))(action: => T): T = {
    val key = s"spark.datasource.zrecord.${option._1}"
    spark.conf.set(key, option._2)
    try action
    finally spark.conf.unset(key)
  }

  test("a tag, a version and a time given to table() select what they say") {
    val path = tagged()
    for (option <- Seq("tag" -> "v1", "versionAsOf" -> "0", "timestampAsOf" -> afterFirst(path))) {
      assert(table(path, option).count() == 3, option)
      assert(table(path, option).collect().length == 3, option)
      assert(read(path, option).count() == 3, option)
    }
    assert(table(path, "versionAsOf" -> "1").count() == 3, "the tag is a version")
    assert(table(path).count() == 5)
    assert(table(path, "tag" -> "v1").union(table(path)).count() == 8)
  }

  test("WITH in SQL selects the version") {
    assume(isNewer)
    val path = tagged()
    assert(spark.sql(s"select * from zrecord.`$path` with (tag = 'v1')").collect().length == 3)
    assert(
      spark
        .sql(s"select * from zrecord.`$path` with (versionAsOf = '0')")
        .collect()
        .length == 3
    )
  }

  test("options in a view, or with another spelling of the name, do not reach other places") {
    assume(isNewer)
    val path = tagged()
    val name = s"zrecord.`$path`"
    spark.sql(s"create temporary view tagged_rows as select * from $name with (tag = 'v1')")
    assert(spark.table("tagged_rows").count() == 3)
    val table = freshTable()
    spark.sql(s"create table $table using zrecord location '$path'")
    val queries = Seq(
      s"select * from tagged_rows union all select * from $name",
      s"select * from $name union all select * from tagged_rows",
      s"select * from $table with (tag = 'v1') union all select * from default.$table"
    )
    for (query <- queries) {
      val outcome =
        try spark.sql(query).collect().length.toString
        catch { case e: Throwable => messages(e) }
      assert(outcome == "8" || outcome.contains("in one statement"), s"$query: $outcome")
    }
    spark.sql(s"drop table $table")
    spark.catalog.dropTempView("tagged_rows")
  }

  test("two versions of a dataset in one statement of SQL") {
    assume(isNewer)
    val path = tagged()
    def joined(left: String, right: String) =
      spark
        .sql(
          s"select count(*) from zrecord.`$path` $left a join zrecord.`$path` $right b using (id)"
        )
        .head()
        .getLong(0)
    assert(joined("", "version as of 'v1'") == 5)
    assert(joined("", "with (versionAsOf = 0)") == 5)
    assert(joined("with (tag = 'v1')", "with (tag = 'v1')") == 3)
    // Spark takes the options of the first place for all places.
    for (
      (left, right) <- Seq(
        ("", "with (tag = 'v1')"),
        ("with (tag = 'v1')", ""),
        ("with (tag = 'v1')", "with (tag = 'v1', indices = '1')")
      )
    ) {
      val message = failure(joined(left, right))
      assert(message.contains("VERSION AS OF") && message.contains("v1"), message)
    }
    assert(
      failure(
        spark
          .sql(
            s"select * from zrecord.`$path` where id in" +
              s" (select id from zrecord.`$path` with (tag = 'v1'))"
          )
          .collect()
      ).contains("VERSION AS OF")
    )
    val other = spark.read.option("tag", "v1").table(s"zrecord.`$path`")
    assert(spark.table(s"zrecord.`$path`").join(other, "id").count() == 5)
    spark.sql("select * from (values (1)) t join (values (2)) t on true").collect()
  }

  test("another version beside the one that the statement names is refused") {
    val path = tagged()
    if (isNewer)
      assert(
        failure(
          spark
            .sql(s"select * from zrecord.`$path` version as of 2 with (tag = 'v1')")
            .collect()
        ).contains("v1")
      )
    assert(failure(table(path, "tag" -> "v1", "versionAsOf" -> "2").collect()).nonEmpty)
    assert(failure(table(path, "tag" -> "nothing").collect()).contains("nothing"))
    assert(failure(table(path, "tag" -> "7").collect()).contains("versionAsOf"))
  }

  test("a version with other columns is refused where columns are known before it is") {
    val path = tagged()
    write(
      spark.range(2).selectExpr("id", "'x' text"),
      path,
      "append",
      "mergeSchema" -> "true"
    )
    val message = failure(table(path, "tag" -> "v1").collect())
    assert(message.contains("v1") && message.contains("columns") && message.contains("load("))
    assert(read(path, "tag" -> "v1").columns.toSeq == Seq("id"))
    assert(spark.sql(s"select * from zrecord.`$path` version as of 'v1'").columns.length == 1)
  }

  test("a default of the session selects the version wherever none is named") {
    val path = tagged()
    for (option <- Seq("tag" -> "v1", "versionAsOf" -> "0", "timestampAsOf" -> afterFirst(path)))
      withDefault(option) {
        assert(read(path).count() == 3, option)
        assert(table(path).count() == 3, option)
        assert(spark.sql(s"select * from zrecord.`$path`").collect().length == 3, option)
        assert(
          spark.sql(s"select * from zrecord.`$path` version as of 2").collect().length == 5,
          option
        )
        assert(read(path, "versionAsOf" -> "2").count() == 5, option)
        assert(table(path, "versionAsOf" -> "2").count() == 5, option)
      }
    assert(table(path).count() == 5)
  }

  test("a default of the session for reads does not hinder writes") {
    val path = tagged()
    val more = spark.range(1).toDF("id")
    withDefault("tag" -> "v1") {
      write(more, path, "append")
      spark.sql(s"insert into zrecord.`$path` values (7)")
      more.write.insertInto(s"zrecord.`$path`")
      more.writeTo(s"zrecord.`$path`").append()
    }
    assert(read(path).count() == 9)
  }

  test("a table of the session's catalog obeys as well") {
    assume(isNewer)
    val path = tagged()
    spark.sql("drop table if exists time_travel")
    spark.sql(s"create table time_travel using zrecord location '$path'")
    try {
      assert(spark.read.option("tag", "v1").table("time_travel").count() == 3)
      assert(spark.sql("select * from time_travel with (tag = 'v1')").collect().length == 3)
      withDefault("tag" -> "v1")(assert(spark.table("time_travel").count() == 3))
      assert(spark.table("time_travel").count() == 5)
      spark.sql("cache table time_travel")
      withDefault("tag" -> "v1")(assert(spark.table("time_travel").count() == 3))
      assert(spark.table("time_travel").count() == 5)
    } finally spark.sql("drop table time_travel")
  }

  test("versions of writes are refused") {
    val path = tagged()
    val more = spark.range(1).toDF("id")
    for (option <- Seq("tag" -> "v1", "versionAsOf" -> "0", "timestampAsOf" -> "2020-01-01")) {
      assert(failure(write(more, path, "append", option)).contains(option._1))
      assert(
        failure(
          more.writeTo(s"zrecord.`$path`").option(option._1, option._2).append()
        ).nonEmpty
      )
      assert(
        failure(
          more.write.option(option._1, option._2).insertInto(s"zrecord.`$path`")
        ).nonEmpty
      )
    }
    assert(read(path).count() == 5)
  }

  test("another path beside the one that the statement names is refused") {
    val path = tagged()
    val other = tagged()
    val more = spark.range(1).toDF("id")
    val refused = Seq[() => Any](
      () => table(path, "path" -> other).collect(),
      () => table(path, "paths" -> s"""["$other"]""").collect(),
      () => table(path, "view" -> "chunks").collect(),
      () => more.writeTo(s"zrecord.`$path`").option("path", other).append(),
      () => more.write.option("path", other).insertInto(s"zrecord.`$path`")
    )
    for (action <- refused) assert(failure(action()).toLowerCase.contains("option"))
    assert(table(path, "path" -> path).count() == 5)
    if (!path.contains("://")) assert(table(path, "path" -> s"file:$path").count() == 5)
    assert(read(path).count() == 5 && read(other).count() == 5)
  }
}
