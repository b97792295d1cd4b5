package io.zrecord.spark

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.optimizer.{ConstantFolding, NullPropagation}
import org.apache.spark.sql.execution.LocalTableScanExec

/** Aggregates over a dataset, each beside the same aggregate over the same rows in memory. */
class CountSuite extends SparkSuite {
  private val data = "select id, if(id % 3 = 0, null, id) n, cast(id % 4 as string) s, 'x' c from "

  private lazy val path: String = {
    val written = freshPath()
    write(spark.sql(data + "range(0, 100, 1, 3)"), written, "append")
    written
  }

  private lazy val empty: String = {
    val written = freshPath()
    write(spark.sql(data + "range(0)"), written, "append")
    written
  }

  private val constants = Seq("1", "'x'", "array(1)", "1 + 1", "null")

  private val aggregates: Seq[String] =
    constants.flatMap(c => Seq(s"count($c)", s"count(distinct $c)")) ++ Seq(
      "count(*)",
      "count(distinct 1), count(*)",
      "count(distinct 1), count(distinct 'x')",
      "count(distinct 1), count(distinct 2), count(distinct id)",
      "count(distinct 1) + count(*)",
      "count(distinct 1, 2)",
      "count(distinct 1, null)",
      "count(distinct 1, id)",
      "count(1, 2)",
      "count(1, n)",
      "count(cast(null as bigint))",
      "count(distinct cast(null as bigint))",
      "count(distinct cast('1' as int))",
      "count(1) filter (where id > 90)",
      "count(distinct 1) filter (where id > 90)",
      "count(distinct 1) filter (where id > 900)",
      "count(distinct 1) filter (where id > 90), count(*)",
      "count(n)",
      "count(id)",
      "count(distinct id)",
      "count(distinct n)",
      "count(distinct c)",
      "count(distinct s, n)",
      "count_if(true)",
      "count_if(n > 5)",
      "sum(1)",
      "sum(distinct 1)",
      "min(1)",
      "max('x')",
      "avg(2)",
      "avg(distinct 2)",
      "any_value(7)",
      "approx_count_distinct(1)",
      "sum(n), count(*)",
      "1",
      "count(*) > 0",
      "max(count(*)) over ()"
    )

  /** Aggregates that do not depend on which rows a limit takes. */
  private val ofAnyRows: Seq[String] = Seq(
    "count(1)",
    "count(distinct 1), count(*), count(null)",
    "count(distinct 1) filter (where 1 = 1), count(distinct 'x')",
    "count(distinct 1)",
    "sum(1), min(1), max(2)"
  )

  /** What is counted, as a suffix of `from t`, and what becomes of the groups. */
  private val allInputs: Seq[String] = Seq(
    "(select * from t limit 7) x",
    "(select * from t limit 0) x",
    "(select * from t limit 1000) x",
    "(select * from t order by id limit 5) x",
    "(select * from t limit 1) x",
    "t where id < 10",
    "t where n is null",
    "t where id < 0",
    "t where 1 = 0",
    "t group by s",
    "t group by 'k'",
    "t group by s having count(distinct 1) = 1",
    "t having count(distinct 1) = 1",
    "t having count(*) > 1000",
    "t group by grouping sets ((s), (c), ())",
    "t group by cube (s, c)",
    "t group by rollup (s)",
    "(select distinct s from t) x",
    "(select * from t union all select * from t) x",
    "(select a.id from t a join t b on a.id = b.id) x",
    "(select count(distinct 1) from t) x",
    "t tablesample (100 percent)",
    "t tablesample (5 rows)",
    "(select * from t limit 9 offset 4) x",
    "(select * from t offset 95) x"
  )

  private def answers(from: String, aggregate: String, input: String): Seq[String] =
    spark
      .sql(s"select $aggregate from ${input.replaceAll("\\bt\\b", from)}")
      .collect()
      .map(_.toString)
      .sorted
      .toSeq

  /** Compares a share of all pairs; at scale 1, all. */
  private def compare(aggregates: Seq[String], inputs: Seq[String]): Unit = {
    val pairs = for (aggregate <- aggregates; input <- inputs) yield (aggregate, input)
    val chosen = new Random(Budget.seed).shuffle(pairs).take(Budget.of(pairs.size))
    for ((aggregate, input) <- chosen)
      assert(
        answers("stored", aggregate, input) == answers("plain", aggregate, input),
        s"select $aggregate from $input"
      )
  }

  private def views(path: String, rows: String): Unit = {
    read(path).createOrReplaceTempView("stored")
    spark.sql(data + rows).createOrReplaceTempView("plain")
  }

  test("an aggregate over a dataset is what it is over rows in memory") {
    views(path, "range(0, 100, 1, 3)")
    compare(aggregates, Seq("t"))
    views(empty, "range(0)")
    compare(ofAnyRows, Seq("t", "t group by s"))
  }

  test("counts of what limits, samples, groups, unions and joins leave") {
    views(path, "range(0, 100, 1, 3)")
    compare(ofAnyRows, allInputs)
  }

  test("a constant is counted right, also if Spark does not fold it") {
    read(path).createOrReplaceTempView("stored")
    val rules = Seq(ConstantFolding.ruleName, NullPropagation.ruleName)
    spark.conf.set("spark.sql.optimizer.excludedRules", rules.mkString(","))
    try
      for (
        (aggregate, expected) <- Seq(
          ("count(null)", 0),
          ("count(distinct null)", 0),
          ("count(distinct 1)", 1),
          ("count(1)", 100)
        )
      )
        assert(spark.sql(s"select $aggregate from stored").head().getLong(0) == expected, aggregate)
    finally spark.conf.unset("spark.sql.optimizer.excludedRules")
  }

  private def isFromMetadata(query: DataFrame): Boolean =
    query.queryExecution.executedPlan.collectLeaves().forall(_.isInstanceOf[LocalTableScanExec])

  test("counts of all records need no job, in SQL, by path and below other operators") {
    val name = s"zrecord.`$path`"
    for (
      query <- Seq(
        s"select count(*) from $name",
        s"select count(1), count('x') from $name",
        s"select count(distinct 1), count(*) from $name",
        s"select count(*) from $name where _index < 7",
        s"select count(distinct 1) from $name where _index < 0"
      )
    )
      assert(isFromMetadata(spark.sql(query)), query)
    assert(isFromMetadata(read(path).groupBy().count()))
    assert(!isFromMetadata(spark.sql(s"select count(n) from $name")))
  }

  test("counts go on in a session that is made of another one") {
    val other = spark.newSession()
    def answer(query: String) = other.sql(query).head().getLong(0)
    assert(answer(s"select count(distinct 1) from zrecord.`$path`") == 1)
    assert(answer(s"select count(*) from zrecord.`$path`") == 100)
  }
}
