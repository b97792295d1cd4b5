package io.zrecord.spark

import scala.util.Random

import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import io.zrecord.testing.Budget

/** A rebalance of all shards that a statement changes, at any point of the statement: both take
  * effect.
  */
class RebalancesInBetweenSuite extends SparkSuite {
  private val schedules = Budget.of(100)
  private val seed = Budget.seed
  private val records = 200L

  private def created(random: Random): String = {
    val path = freshPath()
    for (shard <- 0 until 4) {
      val first = shard * records / 4
      write(
        spark
          .range(first, first + records / 4, 1, 1)
          .selectExpr("id", "0 label", "repeat('t', 50) t"),
        path,
        "append"
      )
    }
    // Some shards have changes before.
    if (random.nextBoolean()) spark.sql(s"update zrecord.`$path` set label = 0 where id % 5 = 1")
    if (random.nextBoolean()) spark.sql(s"delete from zrecord.`$path` where id % 50 = 49")
    path
  }

  /** Rewrites all shards into other ones. */
  private def rebalance(path: String): Unit = {
    val table = tableAt(path)
    val before = table.latest()
    val options = RebalanceOptions.defaults().withAllShards()
    val result = TableRebalance.of(RebalancePlan.of(before, options)).run()
    assert(result.failures().isEmpty)
    val ids = before.shards().toArray.toSet
    assert(!table.latest().shards().toArray.exists(ids))
  }

  private val statements = Seq[(String, Long => Int)](
    "merge into T t using (select id from range(0, 200, 3)) s on t.id = s.id and meanwhile(t.id)" +
      " when matched then update set label = t.label + 1" -> (id => if (id % 3 == 0) 1 else 0),
    "update T set label = 2 where id % 4 = 1 and meanwhile(id)" -> (id =>
      if (id % 4 == 1) 2 else 0
    ),
    "merge into T t using (select id from range(100, 300, 4)) s on t.id = s.id and meanwhile(t.id)" +
      " when matched then update set label = 3" +
      " when not matched then insert (id, label, t) values (s.id, 3, 'new')" ->
      (id => if (id >= 100 && id % 4 == 0) 3 else 0)
  )

  testLocally(
    s"$schedules statements take effect beside a rebalance of their shards (seed $seed)"
  ) {
    val random = new Random(seed)
    for (n <- 0 until schedules) {
      val path = created(random)
      val (statement, label) = statements(random.nextInt(statements.size))
      val point = (InterruptedSession.Points :+ "the tasks")(random.nextInt(3))
      val at = random.nextInt(records.toInt).toLong
      val before = spark.sql(s"select id from zrecord.`$path`").collect().map(_.getLong(0)).toSet
      val interrupted = new InterruptedSession(spark, point)
      // The first record at which a task is interrupted; others have passed by then.
      interrupted.session.udf.register(
        "meanwhile",
        (id: Long) => if (point == "the tasks" && id >= at) Meanwhile.run() else true
      )
      Meanwhile.failure.set(null)
      Meanwhile.action.set(() => rebalance(path))
      interrupted.session.sql(statement.replaceAll("\\bT\\b", s"zrecord.`$path`"))
      Meanwhile.run() // If no record was at or after that one.
      assert(Option(Meanwhile.failure.get).isEmpty)
      val found = read(path).select("id", "label").collect()
      val expected = before.map(id => (id, label(id))) ++
        (if (statement.contains("not matched")) (100L until 300L by 4).map((_, 3)) else Seq.empty)
      assert(
        found.map(r => (r.getLong(0), r.getInt(1))).toSet == expected,
        s"$n: $statement, $point"
      )
      assert(found.length == expected.size)
    }
  }
}
