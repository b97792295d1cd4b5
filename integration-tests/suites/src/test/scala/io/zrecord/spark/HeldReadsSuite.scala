package io.zrecord.spark

import io.zrecord.testing.Budget
import org.apache.spark.sql.DataFrame

/** What a data frame, a view and a cached table show and store after a commit. One rule holds for
  * all uses of one of them: up to Spark 4.0 they stay with their version, and later releases load
  * the newest version again, unless the read names a version.
  */
class HeldReadsSuite extends SparkSuite {
  private val names = Iterator.from(1).map(n => s"held_$n")

  private def dataset(): String = {
    val path = freshPath()
    write(spark.range(0, 10, 1, 1).toDF("id"), path, "append")
    path
  }

  /** Makes something to hold of a path. */
  private val held: Seq[(String, Boolean, String => DataFrame)] = Seq(
    ("load(path)", false, path => read(path)),
    ("a condition on load(path)", false, path => read(path).where("id >= 0")),
    ("table(name)", false, path => spark.table(s"zrecord.`$path`")),
    ("columns of table(name)", false, path => spark.table(s"zrecord.`$path`").select("id")),
    ("SQL", false, path => spark.sql(s"select id from zrecord.`$path`")),
    ("a view of load(path)", false, path => view(read(path))),
    ("a view of table(name)", false, path => view(spark.table(s"zrecord.`$path`"))),
    ("a cached load(path)", false, path => counted(read(path).cache())),
    ("a cached table(name)", false, path => counted(spark.table(s"zrecord.`$path`").cache())),
    ("a version", true, path => read(path, "versionAsOf" -> "0")),
    ("a view of a version", true, path => view(read(path, "versionAsOf" -> "0"))),
    ("a version in SQL", true, path => spark.sql(s"select * from zrecord.`$path` version as of 0"))
  )

  private val commits: Seq[(String, String => Unit)] = Seq(
    ("save", path => write(spark.range(0, 5, 1, 1).toDF("id"), path, "append")),
    ("insert", path => spark.sql(s"insert into zrecord.`$path` select id from range(0, 5, 1, 1)"))
  )

  private def view(data: DataFrame): DataFrame = {
    val name = names.next()
    data.createOrReplaceTempView(name)
    spark.sql(s"select * from $name")
  }

  private def counted(data: DataFrame): DataFrame = {
    assert(data.count() == 10)
    data
  }

  private def stored(store: String => Unit): Long = {
    val path = freshPath()
    store(path)
    read(path).count()
  }

  /** Ways to store what a read shows, and whether the way resolves a bare name again. */
  private val stores: Seq[(String, Boolean, DataFrame => Long)] = Seq(
    ("save", false, data => stored(write(data, _, "errorifexists"))),
    ("save append", false, data => stored(write(data, _, "append"))),
    (
      "writeTo of columns",
      false,
      data => stored(to => data.toDF("id").writeTo(s"zrecord.`$to`").create())
    ),
    ("writeTo", true, data => stored(to => data.writeTo(s"zrecord.`$to`").create()))
  )

  for ((what, isNamed, hold) <- held)
    test(s"what $what shows is what it stores (seed ${Budget.seed})") {
      for ((how, commit) <- chosen(commits)) {
        val path = dataset()
        val data = hold(path)
        assert(data.count() == 10)
        commit(path)
        val expected = if (loadsAgain && !isNamed) 15 else 10
        assert(data.count() == expected, how)
        assert(data.toDF("id").collect().length == expected, how)
        assert(data.selectExpr("count(id)").head().getLong(0) == expected, how)
        // Before 4.1, writeTo resolves a bare name again, whatever the data source.
        val safe = stores.filter(store => loadsAgain || !store._2 && !what.endsWith("table(name)"))
        for ((way, _, store) <- chosen(if (safe.isEmpty) stores.take(2) else safe))
          assert(store(data) == expected, s"$how, $way")
        spark.catalog.clearCache()
      }
    }

  private def viewOf(data: DataFrame): String = {
    val name = names.next()
    data.createOrReplaceTempView(name)
    name
  }

  test("a view of load(path) is written by position, by name and as a whole, as one of Parquet") {
    def stored(format: String): Seq[Seq[(Long, String)]] = {
      val path = freshLocalPath()
      spark.range(1).selectExpr("id a", "'x' b").write.format(format).save(path)
      for (
        statement <- Seq(
          "insert into % select 5 as b, 'y' as a",
          "insert into % values (6, 'z')",
          "insert into % (b, a) values ('w', 7)",
          "insert into % by name select 'v' as b, 8L as a",
          "insert overwrite % select 9, 'u'"
        )
      ) yield {
        spark.sql(statement.replace("%", viewOf(spark.read.format(format).load(path))))
        val rows = spark.read.format(format).load(path).collect()
        rows.map(row => (row.getLong(0), row.getString(1))).sorted.toSeq
      }
    }
    assert(stored("zrecord") == stored("parquet"))
  }

  test("a view is written by position after a save that wrote nothing") {
    for (mode <- Seq("ignore", "errorifexists")) {
      val path = freshPath()
      val data = spark.range(1).selectExpr("id a", "id b")
      write(data, path, "append")
      val name = viewOf(read(path))
      if (mode == "ignore") write(data, path, mode) else failure(write(data, path, mode))
      spark.sql(s"insert into $name select 1L as b, 2L as a")
      assert(read(path).where("a = 1 and b = 2").count() == 1, mode)
    }
  }

  test("a view that was made before a commit loses nothing, and one of a version is not written") {
    val path = dataset()
    val name = viewOf(read(path))
    write(spark.range(5).toDF("id"), path, "append")
    spark.sql(s"insert into $name values (77)")
    assert(read(path).count() == 16)
    for (source <- Seq(name, s"zrecord.`$path`")) {
      val overwrite = s"insert overwrite $name select id from $source"
      if (loadsAgain) spark.sql(overwrite)
      else {
        val message = failure(spark.sql(overwrite))
        assert(message.contains("version") && message.contains("commit"), message)
      }
      assert(read(path).count() == 16)
    }
    spark.sql(s"insert overwrite ${viewOf(read(path))} select 1L")
    assert(read(path).count() == 1)
    intercept[Exception](
      spark.sql(s"insert into ${viewOf(read(path, "versionAsOf" -> "0"))} values (78)")
    )
    assert(read(path).count() == 1)
  }

  test("a held read that cannot be loaded again says so") {
    assume(loadsAgain)
    val path = dataset()
    val data = read(path)
    assert(data.count() == 10)
    write(spark.range(3).selectExpr("cast(id as string) other"), path, "overwrite")
    val message = failure(data.count())
    assert(message.contains("id") && message.toLowerCase.contains("column"), message)
  }

  test("a new column is not part of a held read") {
    val path = dataset()
    val data = read(path)
    assert(data.count() == 10)
    write(spark.range(5).selectExpr("id", "'x' added"), path, "append", "mergeSchema" -> "true")
    assert(data.columns.toSeq == Seq("id"))
    assert(data.toDF("id").collect().length == (if (loadsAgain) 15 else 10))
  }

  test("patterns and several paths are read as they were when they were resolved") {
    val path = dataset()
    val both = spark.read.format("zrecord").load(path, path)
    assert(both.count() == 20)
    write(spark.range(5).toDF("id"), path, "append")
    assert(both.count() == 20)
    assert(both.toDF("id").collect().length == 20)
  }
}
