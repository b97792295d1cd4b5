package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer

import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.Trigger

/** The slot of each record in its shard, and the version that is read. */
class MetadataColumnsSuite extends StreamTables {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** A table of two shards, of 100 and of 60 records, whose slots are known by the ids. */
  private class Table(partitioned: String = "") {
    private val short = freshTable()
    val name = s"lake.$short"
    val path = s"$warehouse/$short"
    sql(s"create table $name (id bigint, v bigint, p int) using zrecord $partitioned")
    add(0, 100)
    add(100, 160)

    def add(from: Long, to: Long): Unit = {
      sql(s"insert into $name select /*+ coalesce(1) */ id, 0, 0 from range($from, $to)")
      ()
    }

    def newest: Long = tableAt(path).latest().version()

    /** Returns the id, the slot and the version of each record. */
    def found: Set[(Long, Long, Long)] = places(spark.table(name))
  }

  private def places(frame: DataFrame): Set[(Long, Long, Long)] =
    frame
      .selectExpr("id", "_slot", "_version")
      .collect()
      .map(row => (row.getLong(0), row.getLong(1), row.getLong(2)))
      .toSet

  /** Returns what the records of two shards of 100 and 60 are where nothing was written anew. */
  private def expected(version: Long, isThere: Long => Boolean): Set[(Long, Long, Long)] =
    (0L until 160L).filter(isThere).map(id => (id, id % 100, version)).toSet

  private def isKept(id: Long) = id % 3 != 1

  private lazy val deleted = {
    val table = new Table()
    sql(s"delete from ${table.name} where id % 3 = 1")
    table
  }

  test("every way to read tells the slots of the records that are left, and the version") {
    val version = deleted.newest
    def load(options: (String, String)*) = read(deleted.path, options: _*)
    val all = expected(version, isKept)
    def some(holds: Long => Boolean) = expected(version, id => isKept(id) && holds(id))
    val indices = (0L until 160L).filter(isKept).zipWithIndex.toMap
    for (
      (clue, frame, wanted) <- Seq(
        ("a table", spark.table(deleted.name), all),
        ("a path", load(), all),
        ("small batches", load("batchRows" -> "7"), all),
        ("many partitions", load("numPartitions" -> "9"), all),
        (
          "a range",
          load().where("_index between 20 and 80"),
          some(id => {
            val index = indices(id)
            index >= 20 && index <= 80
          })
        ),
        (
          "single indices",
          load().where("_index in (3, 60, 61, 90)"),
          some(id => Set(3, 60, 61, 90)(indices(id)))
        ),
        ("the option indices", load("indices" -> "90,3"), some(id => Set(3, 90)(indices(id)))),
        ("a condition on values", load().where("v = 0 and id > 50"), some(_ > 50)),
        ("a condition on the slot", load().where("_slot = 50"), some(_ % 100 == 50)),
        ("a condition on the version", load().where(s"_version = $version"), all),
        ("another version", load().where(s"_version <> $version"), Set.empty[(Long, Long, Long)]),
        ("sequential", load("sampler" -> "sequential"), all),
        ("random", load("sampler" -> "random", "numSamples" -> "5000"), all),
        ("backwards", load("sampler" -> "sequential", "step" -> "-1", "batchRows" -> "5"), all),
        (
          "the version before",
          load("versionAsOf" -> s"${version - 1}"),
          expected(version - 1, _ => true)
        ),
        ("the first records", load("versionAsOf" -> "1"), expected(1, _ < 100))
      )
    ) withClue(clue)(assert(places(frame) == wanted))
    val sampled =
      spark.sql(s"select id, _slot, _version from ${deleted.name} tablesample (40 rows)")
    assert(places(sampled).subsetOf(all) && places(sampled).nonEmpty)
  }

  test("slots alone are told, and versions alone") {
    assert(
      sql(s"select _slot from ${deleted.name}").map(_.getLong(0)).sorted ==
        expected(0, isKept).toSeq.map(_._2).sorted
    )
    assert(sql(s"select distinct _version from ${deleted.name}") == Seq(Row(deleted.newest)))
    assert(
      sql(s"select count(distinct _shard, _slot) from ${deleted.name}") ==
        Seq(Row((0L until 160L).count(isKept).toLong))
    )
  }

  test("several paths have each its own slots and versions") {
    val other = new Table()
    val both = spark.read.format("zrecord").load(deleted.path, other.path)
    assert(
      places(both) == expected(deleted.newest, isKept) ++ expected(other.newest, _ => true)
    )
  }

  test("a record keeps its slot until its shard is written anew") {
    val table = new Table("tblproperties ('write.distribution' = 'none')")
    def check(isThere: Long => Boolean): Unit =
      assert(table.found == expected(table.newest, isThere))
    sql(s"update ${table.name} set v = 1 where id % 2 = 0")
    check(_ => true)
    sql(s"delete from ${table.name} where id < 10")
    check(_ >= 10)
    sql(s"delete from ${table.name} where id in (11, 101)")
    check(id => id >= 10 && !Set(11L, 101L)(id))
    sql(s"alter table ${table.name} add column more int")
    check(id => id >= 10 && !Set(11L, 101L)(id))
    val all = RebalanceOptions.defaults().withAllShards()
    TableRebalance.of(RebalancePlan.of(tableAt(table.path).latest(), all)).run()
    val rows = sql(s"select _index, _shard, _slot, _version from ${table.name}")
    assert(rows.size == 148)
    for (row <- rows) {
      assert(row.getLong(2) == row.getLong(0) - row.getLong(1))
      assert(row.getLong(3) == table.newest)
    }
  }

  test("a record that moves to another partition gets a slot of its new shard") {
    val table = new Table("partitioned by (p)")
    sql(s"update ${table.name} set p = 1 where id in (7, 150)")
    val found = table.found.map { case (id, slot, _) => id -> slot }.toMap
    assert(found.size == 160)
    for ((id, slot) <- found if id != 7 && id != 150) assert(slot == id % 100)
    assert(
      sql(s"select p, _index - _shard, _slot, id from ${table.name} where p = 1 order by id")
        .map(row => (row.getLong(1) == row.getLong(2), row.getLong(3))) ==
        Seq((true, 7L), (true, 150L))
    )
  }

  test("statements name records by slots and versions, and store them") {
    val table = new Table()
    sql(s"delete from ${table.name} where _slot = 5 and _shard = 0")
    var version = table.newest
    assert(table.found == expected(version, _ != 5))
    sql(s"update ${table.name} set v = _slot * 1000 + _version where _slot between 3 and 7")
    assert(
      sql(s"select id, v from ${table.name} where v <> 0 order by id") ==
        Seq(3L, 4L, 6L, 7L, 103L, 104L, 105L, 106L, 107L)
          .map(id => Row(id, id % 100 * 1000 + version))
    )
    version = table.newest
    // Code that Spark 4.2 generates fails for a merge that names a metadata column.
    val generates = spark.conf.get("spark.sql.codegen.wholeStage")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    try
      sql(
        s"""merge into ${table.name} t using (select explode(array(59L, 99L)) as s) n
           | on t._slot = n.s and t._version = $version and t._shard = 0
           | when matched then update set v = 4""".stripMargin
      )
    finally spark.conf.set("spark.sql.codegen.wholeStage", generates)
    assert(
      sql(s"select id, v from ${table.name} where id in (59, 99, 159) order by id") ==
        Seq(Row(59L, 4L), Row(99L, 4L), Row(159L, 0L))
    )
    sql(
      s"""merge into ${table.name} t using (select explode(array(98L, 999L)) as s) n
         | on t.id = n.s
         | when matched then update set v = -1
         | when not matched then insert (id, v, p) values (n.s, -1, 0)""".stripMargin
    )
    assert(
      sql(s"select id, _slot from ${table.name} where v = -1 order by id") ==
        Seq(Row(98L, 98L), Row(999L, 0L))
    )
    val copy = freshTable()
    sql(
      s"create table lake.$copy using zrecord as" +
        s" select id, _slot as slot, _version as version from ${table.name}"
    )
    assert(
      sql(s"select id, slot, version from lake.$copy")
        .map(row => (row.getLong(0), row.getLong(1), row.getLong(2)))
        .toSet == table.found
    )
  }

  test("a metadata column is neither assigned nor a field's name, whatever the case") {
    val table = new Table()
    for (name <- Seq("_slot", "_version"))
      for (
        (statement, expected) <- Seq(
          s"update ${table.name} set $name = 1 where id = 3" -> s"assigning '$name'",
          s"""merge into ${table.name} t using (select 3L as n) c on t.id = c.n and t.$name >= 0
             | when matched then update set $name = 1""".stripMargin -> s"assigning '$name'",
          s"insert into ${table.name} (id, v, p, $name) values (1, 2, 3, 4)" -> "",
          s"create table lake.${freshTable()} (${name.toUpperCase} int) using zrecord" ->
            "rename it",
          s"alter table ${table.name} add column $name int" -> name,
          s"alter table ${table.name} rename column v to $name" -> name
        )
      ) withClue(statement) {
        val refused = failure(sql(statement))
        assert(refused.contains(expected), refused)
      }
    assert(table.found == expected(table.newest, _ => true))
  }

  test("two versions of one query keep their numbers, also where one is a tag of the other") {
    val table = new Table()
    val records = table.newest
    tableAt(table.path).tag(records, "kept")
    val tag = table.newest
    assert(tag > records)
    val rows = sql(
      s"""select a._version, b._version, count(*) from ${table.name} version as of $records a
         | join ${table.name} version as of $tag b on a.id = b.id group by 1, 2""".stripMargin
    )
    assert(rows == Seq(Row(records, tag, 160L)))
    assert(
      sql(
        s"""select _version, count(*) from (select id, _version
             | from ${table.name} version as of $records union all select id, _version
             | from ${table.name} version as of $tag) group by _version order by 1""".stripMargin
      ) ==
        Seq(Row(records, 160L), Row(tag, 160L))
    )
  }

  test("a stream tells the version that added a record, or is refused where Spark does not ask") {
    val table = new Table()
    sql(s"delete from ${table.name} where id < 10")
    table.add(200, 203)
    def found: Set[(Long, Long, Long)] = {
      val rows = ArrayBuffer.empty[Row]
      val source = withStream(table.path).selectExpr("id", "_slot", "_version")
      val query = withOptions(
        source.writeStream.trigger(Trigger.AvailableNow()),
        "checkpointLocation" -> freshDirectory()
      ).foreachBatch { (batch: DataFrame, _: Long) => rows ++= batch.collect(); () }.start()
      try query.awaitTermination()
      finally query.stop()
      rows.map(row => (row.getLong(0), row.getLong(1), row.getLong(2))).toSet
    }
    if (spark.version >= "4.2")
      assert(
        found == expected(0, _ => true).map { case (id, slot, _) =>
          (id, slot, if (id < 100) 1L else 2L)
        } ++ Set((200L, 0L, 4L), (201L, 1L, 4L), (202L, 2L, 4L))
      )
    else {
      val refused = failure(found)
      assert(refused.contains(if (spark.version >= "4") "metadata columns" else "_slot"), refused)
    }
  }

  private def withStream(path: String): DataFrame =
    spark.readStream
      .format("zrecord")
      .option("startingVersion", "1")
      .option("skipChangeCommits", "true")
      .load(path)
}
