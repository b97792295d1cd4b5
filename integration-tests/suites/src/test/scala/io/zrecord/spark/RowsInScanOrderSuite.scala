package io.zrecord.spark

import io.zrecord.spark.rules.ColumnsOfRowChanges
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col

/** DELETE and UPDATE of tables with many shards, whose rows need no shuffle. */
class RowsInScanOrderSuite extends SparkSuite {
  private lazy val warehouse = freshPath()
  private val shards = 9

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private class Table(count: Int = shards, partitioned: String = "") {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"
    sql(s"create table $name (id bigint, label int, kind string) $partitioned")
    // Each task makes a shard.
    sql(
      s"insert into $name select id, cast(id % 10 as int), concat('k', id % 2)" +
        s" from range(0, ${count * 100}, 1, $count)"
    )
    if (partitioned.isEmpty) assert(tableAt(path).latest().shards().size() == count)
    def rows: Seq[Row] = sql(s"select id, label, kind, _index from $name order by _index")
    def patches: Int = filesOf(path).names.count(_.contains("patch"))
    def plan(statement: String): String =
      sql(s"explain ${statement.replace("T", name)}").head.getString(0)
  }

  private val plain = Seq(
    "update T set label = label + 1 where id % 3 = 0",
    "update T set label = -1",
    "update T set label = 5, id = id + 1000 where _index < 450",
    "delete from T where label = 3",
    "delete from T where id % 2 = 0 and label > 2",
    "update T set kind = 'k9' where id = 777"
  )

  for (statement <- plain)
    test(s"no row is shuffled or sorted by: $statement") {
      val (t, shuffled) = (new Table, new Table)
      val plan = t.plan(statement)
      assert(!plan.contains("Exchange") && !plan.contains("Sort"), plan)
      sql(statement.replace("T", t.name))
      spark.conf.set("spark.sql.optimizer.excludedRules", classOf[ColumnsOfRowChanges].getName)
      try {
        assert(shuffled.plan(statement).contains("Exchange"), "the control")
        sql(statement.replace("T", shuffled.name))
      } finally spark.conf.unset("spark.sql.optimizer.excludedRules")
      assert(t.rows == shuffled.rows)
      val summaries = tableAt(t.path).latest().shards()
      assert(summaries.size() <= shards)
      sql(s"delete from ${t.name} where id % 5 = 4")
      sql(s"delete from ${shuffled.name} where id % 5 = 4")
      assert(t.rows == shuffled.rows)
    }

  test("a shard that several tasks would read is read by one, with any number of splits") {
    val t = new Table
    val before = t.rows
    // Splits of a few bytes would cut each shard.
    for (parallel <- Seq("1", "64")) {
      spark.conf.set("spark.sql.leafNodeDefaultParallelism", parallel)
      try sql(s"update ${t.name} set label = label + 1")
      finally spark.conf.unset("spark.sql.leafNodeDefaultParallelism")
    }
    assert(t.rows == before.map(r => Row(r.getLong(0), r.getInt(1) + 2, r.get(2), r.get(3))))
  }

  test("rows are shuffled where a shard is much of the table, or a join is between") {
    val few = new Table(1)
    assert(few.plan("update T set label = 1 where id < 9").contains("Exchange"))
    // Two processors have a shard each.
    assert(!new Table(2).plan("update T set label = 1 where id < 9").contains("Exchange"))
    val t = new Table
    assert(t.plan("update T set label = 1 where id in (select label from T)").contains("Exchange"))
    assert(
      t.plan(
        "merge into T t using (select 5L id) s on t.id = s.id when matched then update set label = 1"
      ).contains("Exchange")
    )
    sql(s"update ${t.name} set label = 77 where id in (select label from ${t.name})")
    assert(t.rows.count(_.getInt(1) == 77) == 10)
  }

  test("records that get another partition move, without a shuffle of the others") {
    val t = new Table(partitioned = "partitioned by (kind)")
    sql(s"update ${t.name} set kind = 'k7' where label = 4")
    assert(t.rows.filter(_.getString(2) == "k7").map(_.getLong(0)).sorted == (4L until 900L by 10))
    assert(t.rows.map(_.getLong(0)).sorted == (0L until 900L))
  }

  test("scans say that each task reads in the order of the index") {
    val t = new Table
    val sorted = spark.table(t.name).select("id", "_index").sortWithinPartitions("_index")
    assert(!sorted.queryExecution.executedPlan.toString.contains("Sort"))
    assert(sorted.collect().map(_.getLong(1)).toSeq == (0L until 900L))
    val other = spark.table(t.name).select("id", "_index").sortWithinPartitions(col("_index").desc)
    assert(other.queryExecution.executedPlan.toString.contains("Sort"), "the control")
  }
}
