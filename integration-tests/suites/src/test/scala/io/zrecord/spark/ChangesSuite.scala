package io.zrecord.spark

import java.sql.Timestamp

import scala.util.Random

import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import io.zrecord.testing.Budget
import org.apache.spark.sql.Row

/** The changes between versions, told as rows: `CHANGES` of Spark 4.2. */
class ChangesSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private val hasChanges = spark.version.split('.').take(2).map(_.toInt).toSeq match {
    case Seq(major, minor) => major > 4 || major == 4 && minor >= 2
  }

  private def testChanges(name: String)(body: => Any): Unit =
    test(name) {
      assume(hasChanges, "CHANGES is new in Spark 4.2")
      body
    }

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private class Table(columns: String = "id bigint, label int, text string", by: String = "") {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"
    sql(
      s"create table $name ($columns) using zrecord" +
        (if (by.isEmpty) "" else s" partitioned by ($by)")
    )

    def version: Long = tableAt(path).latest().version()

    def changes(range: String, columns: String = "id, label, text"): Seq[Seq[Any]] =
      sql(s"select _change_type, _commit_version, $columns from $name changes $range")
        .map(_.toSeq)
        .sortBy(_.map(String.valueOf).mkString(" "))

    def rebalance(): Unit = {
      val options = RebalanceOptions.defaults().withAllShards()
      TableRebalance.of(RebalancePlan.of(tableAt(path).latest(), options)).run()
    }
  }

  private def filled(): Table = {
    val table = new Table
    sql(
      s"insert into ${table.name} select /*+ coalesce(1) */ id, 0, concat('t', id) from range(0, 4, 1, 1)"
    )
    sql(s"update ${table.name} set label = 5 where id = 1")
    sql(s"delete from ${table.name} where id = 2")
    table.rebalance()
    sql(
      s"""merge into ${table.name} t using (select id from range(3, 5)) c on t.id = c.id
         | when matched then update set text = 'm'
         | when not matched then insert (id, label, text) values (c.id, 9, 'n')""".stripMargin
    )
    table
  }

  private val told = Seq(
    Seq("delete", 3L, 2L, 0, "t2"),
    Seq("insert", 1L, 0L, 0, "t0"),
    Seq("insert", 1L, 1L, 0, "t1"),
    Seq("insert", 1L, 2L, 0, "t2"),
    Seq("insert", 1L, 3L, 0, "t3"),
    Seq("insert", 5L, 4L, 9, "n"),
    Seq("update_postimage", 2L, 1L, 5, "t1"),
    Seq("update_postimage", 5L, 3L, 0, "m"),
    Seq("update_preimage", 2L, 1L, 0, "t1"),
    Seq("update_preimage", 5L, 3L, 0, "t3")
  )

  testChanges("each statement is told with the records before and after") {
    val table = filled()
    assert(table.version == 5)
    assert(table.changes("from version 0 to version 5") == told)
    assert(table.changes("from version 0") == told)
    for (from <- 0 to 5; to <- from to 5)
      assert(
        table.changes(s"from version $from to version $to") ==
          told.filter(row => row(1).asInstanceOf[Long] >= from && row(1).asInstanceOf[Long] <= to),
        s"$from to $to"
      )
    assert(
      table.changes("from version 1 exclusive to version 3 exclusive") ==
        told.filter(_(1) == 2L)
    )
  }

  testChanges("versions are named by tags and times, and times are those of commits") {
    val table = filled()
    tableAt(table.path).tag(2, "second")
    assert(table.changes("from version 'second' to version 'second'") == told.filter(_(1) == 2L))
    val times = sql(
      s"select distinct _commit_version, _commit_timestamp from ${table.name} changes from version 0"
    ).map(row => row.getLong(0) -> row.getTimestamp(1)).toMap
    assert(times.keySet == Set(1L, 2L, 3L, 5L))
    for ((version, time) <- times)
      assert(time == Timestamp.from(tableAt(table.path).version(version).timestamp()))
    assert(
      table.changes(s"from timestamp '${times(2)}' to timestamp '${times(3)}'") ==
        told.filter(row => row(1) == 2L || row(1) == 3L)
    )
    assert(table.changes("from timestamp '2020-01-01'") == told)
  }

  testChanges("net changes tell each record once") {
    val table = filled()
    val net = "with (deduplicationMode = 'netChanges')"
    assert(
      table.changes(s"from version 0 to version 5 $net") == Seq(
        Seq("insert", 5L, 0L, 0, "t0"),
        Seq("insert", 5L, 1L, 5, "t1"),
        Seq("insert", 5L, 3L, 0, "m"),
        Seq("insert", 5L, 4L, 9, "n")
      )
    )
    assert(
      table.changes(s"from version 1 exclusive to version 5 $net") == Seq(
        Seq("delete", 5L, 2L, 0, "t2"),
        Seq("insert", 5L, 4L, 9, "n"),
        Seq("update_postimage", 5L, 1L, 5, "t1"),
        Seq("update_postimage", 5L, 3L, 0, "m"),
        Seq("update_preimage", 5L, 1L, 0, "t1"),
        Seq("update_preimage", 5L, 3L, 0, "t3")
      )
    )
  }

  testChanges("columns and versions that nobody asks for are not read") {
    val table = filled()
    val name = table.name
    assert(sql(s"select count(*) from $name changes from version 0") == Seq(Row(10L)))
    assert(
      sql(
        s"select text, _change_type from $name changes from version 0 where _commit_version = 3"
      ) ==
        Seq(Row("t2", "delete"))
    )
    val plan = spark
      .sql(
        s"select id from $name changes from version 0 where _commit_version > 1 and _commit_version <= 3"
      )
    assert(plan.queryExecution.executedPlan.toString.contains("versions 2 to 3"))
    assert(plan.collect().map(_.getLong(0)).sorted.toSeq == Seq(1L, 1L, 2L))
    assert(
      sql(
        s"select _commit_version, count(*) from $name changes from version 0 group by 1 order by 1"
      ) ==
        Seq(Row(1L, 4L), Row(2L, 2L), Row(3L, 1L), Row(5L, 3L))
    )
  }

  testChanges("members of structs are those that are asked for") {
    val table = new Table("id bigint, s struct<a: int, b: int>, l array<struct<c: string, d: int>>")
    sql(
      s"insert into ${table.name} values (1, named_struct('a', 10, 'b', 20)," +
        " array(named_struct('c', 'x', 'd', 30)))"
    )
    assert(
      sql(s"select s.b, l.d, _change_type from ${table.name} changes from version 1") ==
        Seq(Row(20, Seq(30), "insert"))
    )
  }

  testChanges("an append of what changed conflicts with other appends, unless the end is named") {
    spark.udf.register("meanwhile", (id: Long) => Meanwhile.run())
    for ((end, conflicts) <- Seq("" -> true, " to version 2" -> false)) withClue(end) {
      val table = filled()
      Meanwhile.action.set(() => sql(s"insert into ${table.name} values (100, 1, 'other')"))
      val copy =
        s"insert into ${table.name} select id + 50, label, text from ${table.name} changes" +
          s" from version 1$end where _commit_version = 1 and meanwhile(id)"
      if (conflicts) assert(failure(sql(copy)).toLowerCase.contains("conflict"))
      else sql(copy)
      assert(Meanwhile.failure.get() == null && Meanwhile.action.get() == null)
      assert(sql(s"select count(*) from ${table.name}") == Seq(Row(if (conflicts) 5L else 9L)))
    }
  }

  testChanges("a record that moves to another partition is an update") {
    val table = new Table("id bigint, label int, text string", "label")
    sql(s"insert into ${table.name} values (1, 1, 'a'), (2, 2, 'b'), (3, 2, 'c')")
    sql(s"update ${table.name} set label = 3 where id = 2")
    assert(
      table.changes("from version 2") == Seq(
        Seq("update_postimage", 2L, 2L, 3, "b"),
        Seq("update_preimage", 2L, 2L, 2, "b")
      )
    )
    sql(s"delete from ${table.name} where label = 2")
    assert(table.changes("from version 3") == Seq(Seq("delete", 3L, 3L, 2, "c")))
  }

  testChanges("older versions are told in the columns of the last one") {
    val table = filled()
    sql(s"alter table ${table.name} add column late int default 7")
    sql(s"alter table ${table.name} rename column text to words")
    sql(s"alter table ${table.name} alter column label type bigint")
    sql(s"update ${table.name} set late = 8 where id = 0")
    val columns = "id, label, words, late"
    val range = s"from version 2 to version ${table.version}"
    val found = table.changes(range, columns)
    assert(found.contains(Seq("update_preimage", 2L, 1L, 0L, "t1", 7)))
    assert(found.contains(Seq("update_postimage", table.version, 0L, 0L, "t0", 8)))
    assert(found.contains(Seq("update_preimage", table.version, 0L, 0L, "t0", 7)))
  }

  testChanges("what cannot be told is refused with words") {
    val table = filled()
    for (
      (range, words) <- Seq(
        "from version 9" -> Seq("9"),
        "from version 3 to version 9" -> Seq("9"),
        "from version 5 to version 2" -> Seq("2"),
        "from version 'nothing'" -> Seq("nothing")
      )
    ) withClue(range) {
      val refused = failure(table.changes(range))
      words.foreach(word => assert(refused.contains(word), refused))
      assert(!refused.contains("INTERNAL_ERROR"), refused)
    }
    for (
      (key, value) <- Seq("indices" -> "1", "numPartitions" -> "3", "maxRecordsPerTrigger" -> "1")
    ) {
      val refused = failure(table.changes(s"from version 1 with ($key = '$value')"))
      assert(refused.contains(key), refused)
    }
  }

  testChanges(s"random statements: the changes turn each version into the next (${Budget.seed})") {
    val random = new Random(Budget.seed)
    val table = new Table("id bigint, label int, text string", "label")
    var next = 0
    for (step <- 0 until 12) {
      val (k, r, n) = (2 + random.nextInt(5), random.nextInt(2), random.nextInt(4))
      random.nextInt(6) match {
        case 0 | 1 =>
          sql(s"insert into ${table.name} select id, id % 3, 'x' from range($next, ${next + 20})")
          next += 20
        case 2 => sql(s"update ${table.name} set text = 's$step' where id % $k = $r")
        case 3 => sql(s"update ${table.name} set label = $n, text = 'moved' where id % $k = $r")
        case 4 => sql(s"delete from ${table.name} where id % ${k + 5} = $r")
        case _ => table.rebalance()
      }
    }
    def records(version: Long): Map[Long, (Int, String)] =
      if (version < 0) Map.empty
      else
        sql(s"select * from ${table.name} version as of $version")
          .map(row => row.getLong(0) -> ((row.getInt(1), row.getString(2))))
          .toMap
    def apply(from: Long, to: Long, mode: String): Unit = {
      var expected = records(from)
      val rows = sql(
        s"select _commit_version, _change_type, id, label, text from ${table.name} changes" +
          s" from version $from exclusive to version $to with (deduplicationMode = '$mode')"
      )
      for ((_, ofVersion) <- rows.groupBy(_.getLong(0)).toSeq.sortBy(_._1)) {
        val (before, after) =
          ofVersion.partition(row =>
            row.getString(1) == "delete" || row.getString(1) == "update_preimage"
          )
        for (row <- before) {
          assert(expected.get(row.getLong(2)).contains((row.getInt(3), row.getString(4))), row)
          expected -= row.getLong(2)
        }
        for (row <- after) {
          assert(!expected.contains(row.getLong(2)), row)
          expected += row.getLong(2) -> ((row.getInt(3), row.getString(4)))
        }
        assert(
          before.filter(_.getString(1) == "update_preimage").map(_.getLong(2)).toSet ==
            after.filter(_.getString(1) == "update_postimage").map(_.getLong(2)).toSet
        )
      }
      assert(expected == records(to), s"$from to $to, $mode")
    }
    val last = table.version
    for (version <- 0L until last) apply(version, version + 1, "none")
    apply(0, last, "none")
    for (_ <- 0 until 4) {
      val from = random.nextInt(last.toInt + 1).toLong
      apply(from, from + random.nextInt((last - from).toInt + 1), "netChanges")
    }
  }
}
