package io.zrecord.spark

import org.apache.spark.sql.{DataFrame, Row}

/** Joins and groups by partition columns, which need no shuffle where the session asks for it. */
class PartitionedJoinsSuite extends SparkSuite {
  private val Bucketing = "spark.sql.sources.v2.bucketing.enabled"

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.sources.v2.bucketing.pushPartValues.enabled" -> "true"
  )

  /** Two appends, so that each partition has several shards. */
  private def make(from: Long, keys: String): String = {
    val path = freshPath()
    for ((mode, i) <- Seq("errorifexists", "append").zipWithIndex)
      spark
        .range(from + i * 100, from + i * 100 + 60, 1, 2)
        .selectExpr("id", s"$keys p", "cast(id % 2 as int) q")
        .write
        .format("zrecord")
        .mode(mode)
        .partitionBy("p", "q")
        .save(path)
    path
  }

  private val Keys = "if(id % 5 = 4, null, concat('k', id % 5))"

  private lazy val left = make(0, Keys)
  private lazy val right = make(1000, "concat('k', id % 3 + 1)")

  private def asked[A](action: => A): A = {
    spark.conf.set(Bucketing, "true")
    try action
    finally spark.conf.unset(Bucketing)
  }

  private def shuffles(query: DataFrame): Boolean =
    query.queryExecution.executedPlan.toString.contains("Exchange")

  private def sorted(query: DataFrame): Seq[String] =
    query.collect().map(_.toString).toSeq.sorted

  private def joined(kind: String): DataFrame = {
    val l = read(left)
    val r = read(right).withColumnRenamed("id", "other")
    l.join(r, Seq("p", "q"), kind)
  }

  for (kind <- Seq("inner", "left", "full", "left_semi"))
    test(s"a join by partitions gives the rows of a join that shuffles: $kind") {
      val expected = sorted(joined(kind))
      assert(shuffles(joined(kind)) && expected.nonEmpty)
      asked {
        val query = joined(kind)
        assert(sorted(query) == expected)
        assert(!shuffles(query), query.queryExecution.executedPlan)
      }
    }

  test("a group by partitions needs no shuffle, and other reads are as they were") {
    def sums = read(left).groupBy("p", "q").sum("id")
    val expected = sorted(sums)
    assert(shuffles(sums))
    asked {
      assert(sorted(sums) == expected && !shuffles(sums))
      assert(rows(read(left)).map(_.getLong(0)) == rows(read(left)).map(_.getLong(0)))
      assert(
        sorted(read(left).where("p = 'k1' and id > 3")) ==
          sorted(read(left).where("id > 3").where("p = 'k1'"))
      )
      assert(read(left).where("p = 'none'").groupBy("p", "q").sum("id").collect().isEmpty)
      assert(sorted(read(left).select("id")).size == 120)
      assert(sorted(read(left).select("id", "p")).size == 120)
    }
  }

  test("without the setting rows come in the order of the index") {
    assert(read(left).select("_index").collect().map(_.getLong(0)).toSeq == (0L until 120L))
    val few = read(left).select("p", "q", "_index").collect().map { case Row(_, _, i: Long) => i }
    assert(few.toSeq == (0L until 120L))
  }
}
