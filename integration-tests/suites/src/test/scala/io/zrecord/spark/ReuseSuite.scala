package io.zrecord.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec

/** Work that a query needs twice is done once. */
class ReuseSuite extends SparkSuite {
  private lazy val path = {
    val target = freshPath()
    write(spark.range(0, 1000, 1, 3).selectExpr("id", "id % 7 k", "'x' text"), target, "append")
    target
  }

  override protected def configuration: Map[String, String] =
    Map("spark.sql.autoBroadcastJoinThreshold" -> "-1")

  private def reused(query: DataFrame): Int = {
    def all(plan: SparkPlan): Seq[SparkPlan] = plan +: (plan match {
      case adaptive: AdaptiveSparkPlanExec => all(adaptive.executedPlan)
      case stage: QueryStageExec => all(stage.plan)
      case _: ReusedExchangeExec => Nil
      case other => (other.children ++ other.subqueries).flatMap(all)
    })
    query.collect()
    all(query.queryExecution.executedPlan).count(_.isInstanceOf[ReusedExchangeExec])
  }

  private def bothWays(action: => Unit): Unit =
    for (adaptive <- Seq("true", "false")) {
      spark.conf.set("spark.sql.adaptive.enabled", adaptive)
      try action
      finally spark.conf.unset("spark.sql.adaptive.enabled")
    }

  test("a self-union, a self-join and a query named twice read and shuffle once") {
    bothWays {
      val counts = read(path).groupBy("k").count()
      assert(reused(counts.union(read(path).groupBy("k").count())) == 1)
      val joined = read(path).select("id", "k").as("a")
      assert(reused(joined.join(read(path).select("id", "k").as("b"), Seq("k"))) == 1)
      val name = s"zrecord.`$path`"
      val query = s"with c as (select k, sum(id) s from $name group by k)" +
        " select a.s + b.s from c a join c b on a.k = b.k"
      assert(reused(spark.sql(query)) >= 1)
      assert(
        reused(
          spark.sql(
            s"select k, count(*) from $name group by k union all" +
              s" select k, count(*) from $name group by k"
          )
        ) == 1
      )
    }
  }

  test("scans that differ in anything are not taken for each other") {
    val all = () => read(path).groupBy("k").count()
    val other = freshPath()
    write(spark.range(0, 1000, 1, 3).selectExpr("id", "id % 7 k", "'x' text"), other, "append")
    val different = Seq(
      read(other),
      read(path).where("_index < 500"),
      read(path, "indices" -> "1,2,3"),
      read(path, "sampler" -> "shuffle"),
      read(path, "numPartitions" -> "2"),
      read(path, "verify" -> "always"),
      read(path).sample(0.5, 7),
      spark.read.format("zrecord").load(path, other)
    )
    for (data <- different) {
      val query = all().union(data.groupBy("k").count())
      val expected = all().collect().toSeq ++ data.groupBy("k").count().collect()
      assert(reused(query) == 0)
      assert(query.collect().map(_.toString).sorted.toSeq == expected.map(_.toString).sorted)
    }
    val sampled = () => read(path, "sampler" -> "shuffle", "seed" -> "5").groupBy("k").count()
    assert(reused(sampled().union(sampled())) == 1)
    assert(
      reused(
        sampled().union(read(path, "sampler" -> "shuffle", "seed" -> "6").groupBy("k").count())
      ) == 0
    )
    val drawn = () => read(path).sample(0.5, 7).groupBy("k").count()
    assert(reused(drawn().union(drawn())) == 1)
  }

  test("views are shuffled once") {
    bothWays {
      val chunks = () => read(path, "view" -> "chunks").groupBy("shard").count()
      assert(reused(chunks().union(chunks())) == 1)
      val versions = () => read(path, "view" -> "versions").groupBy("operation").count()
      assert(reused(chunks().union(versions())) == 0)
    }
  }

  test("a version committed between two loads is not taken for the one before") {
    val target = freshPath()
    write(spark.range(10).selectExpr("id", "id % 2 k"), target, "append")
    val before = read(target, "versionAsOf" -> "0").groupBy("k").count()
    write(spark.range(10).selectExpr("id", "id % 2 k"), target, "append")
    val both = before.union(read(target).groupBy("k").count())
    assert(reused(both) == 0)
    assert(both.collect().map(_.getLong(1)).sum == 30)
  }

  test("what a join found out while it ran does not make scans differ") {
    bothWays {
      spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10m")
      try {
        val wanted = spark.range(0, 1000, 1, 1).selectExpr("id + 0 wanted")
        def side = read(path)
          .selectExpr("*", "_index")
          .join(
            wanted.where("wanted % 883 = 17"),
            org.apache.spark.sql.functions.expr("_index = wanted")
          )
          .groupBy("k")
          .count()
        val query = side.union(side)
        query.collect()
        assert(query.collect().map(_.getLong(1)).sum == 4)
        assert(reused(side.union(side)) >= 1)
      } finally spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    }
  }
}
