package io.zrecord.spark

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.Row

/** Changes of records that take effect once, at one version, and leave nothing behind. */
class RowTransactionsSuite extends SparkSuite {
  private lazy val path = {
    val target = freshPath()
    write(spark.range(0, 100, 1, 2).selectExpr("id", "0 label"), target, "append")
    target
  }

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def withDefaults[T](settings: (String, String)*)(body: => T): T = {
    val keys = settings.map { case (key, value) => (s"spark.datasource.zrecord.$key", value) }
    keys.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally keys.foreach { case (key, _) => spark.conf.unset(key) }
  }

  private def created(): String = {
    val target = freshPath()
    write(spark.range(0, 100, 1, 2).selectExpr("id", "0 label"), target, "append")
    target
  }

  private def labels(path: String): Seq[Long] =
    sql(s"select id * 1000 + label from zrecord.`$path` order by id").map(_.getLong(0))

  private val statements = Seq(
    "update T set label = label + 1 where id < 10",
    "delete from T where id % 7 = 3",
    "delete from T where _index < 3",
    "truncate table T",
    "merge into T t using (select id from range(95, 105)) c on t.id = c.id" +
      " when matched then update set label = label + 1" +
      " when not matched then insert (id, label) values (c.id, 1)"
  )

  for (statement <- statements) {
    test(s"takes effect once with a transaction: $statement") {
      val target = created()
      val text = statement.replace("T", s"zrecord.`$target`")
      withDefaults("txnAppId" -> "job", "txnVersion" -> "7") {
        sql(text)
        val after = labels(target)
        val (version, files) = (tableAt(target).latest().version(), filesOf(target).names)
        sql(text)
        assert(labels(target) == after)
        assert(tableAt(target).latest().version() == version)
        assert(filesOf(target).names == files)
      }
      withDefaults("txnAppId" -> "job", "txnVersion" -> "8") {
        write(spark.range(90, 99).selectExpr("id", "0 label"), target, "append")
      }
    }

    test(s"needs the version that is expected: $statement") {
      val target = created()
      val text = statement.replace("T", s"zrecord.`$target`")
      val before = labels(target)
      withDefaults("expectedVersion" -> "3") {
        val refused = failure(sql(text))
        assert(refused.contains("version 3 was expected"), refused)
      }
      assert(labels(target) == before)
      withDefaults("expectedVersion" -> "0")(sql(text))
      assert(labels(target) != before)
    }

    test(s"is refused where a session reads something else by default: $statement") {
      val target = created()
      val text = statement.replace("T", s"zrecord.`$target`")
      val before = labels(target)
      withDefaults("indices" -> "1,2") {
        val refused = failure(sql(text))
        assert(refused.contains("indices") && refused.contains("unset"), refused)
      }
      assert(labels(target) == before)
    }
  }

  test("a statement that fails in its tasks leaves the table and its files as they were") {
    val target = created()
    spark.udf.register("failing", (id: Long) => if (id == 77) sys.error("row 77 fails") else 1)
    val (before, files) = (labels(target), filesOf(target).names)
    for (
      statement <- Seq(
        "update T set label = failing(id)",
        "merge into T t using (select id from range(200)) c on t.id = c.id" +
          " when matched then update set label = failing(t.id)" +
          " when not matched then insert (id, label) values (c.id, 5)"
      )
    ) {
      assert(failure(sql(statement.replace("T", s"zrecord.`$target`"))).contains("row 77"))
      assert(labels(target) == before)
      assert(filesOf(target).names == files, statement)
    }
  }

  test("explain changes nothing, and a statement runs once") {
    val target = created()
    val before = tableAt(target).latest().version()
    sql(s"explain update zrecord.`$target` set label = 1")
    sql(s"explain delete from zrecord.`$target` where _index = 1")
    assert(tableAt(target).latest().version() == before)
    val held = spark.sql(s"update zrecord.`$target` set label = label + 1")
    held.collect()
    held.collect()
    assert(tableAt(target).latest().version() == before + 1)
  }

  test("records are merged by their index and shard") {
    val target = created()
    sql(s"""merge into zrecord.`$target` t using (select explode(array(3L, 60L)) as k) s
         | on t._index = s.k when matched then update set label = 6""".stripMargin)
    sql(
      s"""merge into zrecord.`$target` t using (select id, _index as k from zrecord.`$target`
         | where id = 5) s on t.id = s.id and t._index = s.k when matched then delete""".stripMargin
    )
    val expected =
      (0L until 100).filter(_ != 5).map(id => id * 1000 + (if (id == 3 || id == 60) 6 else 0))
    assert(labels(target) == expected)
  }

  test("a record that a merge deletes in two tasks is deleted once") {
    val target = created()
    val settings = Map(
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1k",
      "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "1b",
      "spark.sql.shuffle.partitions" -> "4"
    )
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try
      sql(s"""merge into zrecord.`$target` t using (select id % 50 id from range(0, 2000, 1, 4)) d
           | on t.id = d.id when matched then delete""".stripMargin)
    finally settings.foreach { case (key, _) => spark.conf.unset(key) }
    assert(labels(target) == (50L until 100).map(_ * 1000))
  }

  test("an older version is read to undo a change") {
    val target = created()
    val table = s"zrecord.`$target`"
    sql(s"update $table set label = 9")
    sql(s"""merge into $table t using (select * from $table version as of 0) o on t.id = o.id
         | when matched then update set label = o.label""".stripMargin)
    assert(labels(target) == (0L until 100).map(_ * 1000))
    sql(s"insert into $table select id + 1000, label from $table version as of 1 where id = 5")
    assert(labels(target).last == 1005009)
    sql(s"update $table set label = (select max(label) from $table version as of 1) where id = 1")
    assert(labels(target)(1) == 1009)
  }

  /** Runs statements, of which only the last one has jobs. */
  private def withoutJobs(statements: Seq[String]): Unit = {
    val described = ConcurrentHashMap.newKeySet[String]()
    val listener = new SparkListener {
      override def onJobStart(start: SparkListenerJobStart): Unit =
        Option(start.properties.getProperty("spark.job.description")).foreach(described.add)
    }
    try
      listening(listener) {
        for (statement <- statements) {
          spark.sparkContext.setJobDescription(statement)
          spark.sql(statement)
        }
        // Events come in order: those of the deletions come before those of the last statement.
        assert(eventually(described.contains(statements.last)))
        statements.init.foreach(statement => assert(!described.contains(statement)))
      }
    finally spark.sparkContext.setJobDescription(null)
  }

  private def ofThreeShards(): String = {
    val target = freshPath()
    for (start <- Seq(0, 100, 200))
      write(spark.range(start, start + 100, 1, 1).selectExpr("id", "0 label"), target, "append")
    target
  }

  test("records of shards that are named are deleted without a job") {
    for (
      (where, isDeleted) <- Seq[(String, Long => Boolean)](
        "_shard = 100" -> (id => id / 100 == 1),
        "_shard in (0, 7, 200)" -> (id => id / 100 != 1),
        "_shard > 0" -> (id => id >= 100),
        "_shard = 7" -> (_ => false),
        "_shard <> 100" -> (id => id / 100 != 1),
        "_shard = 200 and _index >= 250 or _index = 3" -> (id => id >= 250 || id == 3),
        "_shard is null" -> (_ => false)
      )
    ) withClue(where) {
      val target = ofThreeShards()
      val table = s"zrecord.`$target`"
      withoutJobs(
        Seq(
          s"delete from $table where $where",
          s"insert into $table select id, 0 from range(1000, 1001)"
        )
      )
      assert(labels(target).map(_ / 1000).init == (0L until 300).filterNot(isDeleted))
    }
  }

  test("records that are named by their places are deleted without a job") {
    val target = ofThreeShards()
    val table = s"zrecord.`$target`"
    withoutJobs(
      Seq(
        s"delete from $table where _index in (3, 5) or _index > 297",
        s"delete from $table where _index between 98 and 197",
        s"truncate table $table",
        s"insert into $table select id, 0 from range(5)"
      )
    )
    assert(sql(s"select id from $table order by id").map(_.getLong(0)) == (0L until 5L))
    val before = tableAt(target).latest().version() - 2
    assert(
      sql(s"select id from $table version as of $before order by id").map(_.getLong(0)) ==
        (0L until 100).filterNot(Set(3L, 5L)) ++ (200L until 298)
    )
  }

  test("one statement inserts twice from its own table") {
    val target = created()
    val table = s"zrecord.`$target`"
    sql(s"""from $table insert into $table select id + 1000, label where id = 1
         | insert into $table select id + 2000, label where id = 2""".stripMargin)
    assert(labels(target).drop(100) == Seq(1001000, 2002000))
  }

  test("a merge evolves the columns, or says that this Spark does not") {
    val target = created()
    val table = s"zrecord.`$target`"
    val merge = s"""merge with schema evolution into $table t
      | using (select 5L as id, 1 as label, 'new' as text) s on t.id = s.id
      | when matched then update set * when not matched then insert *""".stripMargin
    if (spark.version >= "4.1") {
      sql(merge)
      assert(
        sql(s"select text, label from $table where id in (5, 6) order by id") ==
          Seq(Row("new", 1), Row(null, 0))
      )
    } else assert(failure(sql(merge)).nonEmpty)
  }

  test("what cannot be changed is refused with the reason") {
    sql(s"create or replace temp view older as select * from zrecord.`$path` version as of 0")
    for (
      (statement, expected) <- Seq(
        s"update zrecord.`$path` set _index = 1 where id = 3" -> "assigning '_index'",
        s"update zrecord.`$path` set _index = 1 where _index = 3" -> "assigning '_index'",
        s"""merge into zrecord.`$path` t using (select * from range(3)) c
           | on t.id = c.id and t._shard = 0
           | when matched then update set _shard = 1""".stripMargin -> "assigning '_shard'",
        s"update zrecord.`$path` set nothing = 1" -> "nothing",
        s"delete from zrecord.`$path.nowhere` where id = 1" -> "",
        s"delete from zrecord.`$path` version as of 0 where id = 1" -> "",
        s"delete from older where id = 1" -> ""
      )
    ) {
      withClue(statement) {
        val refused = failure(sql(statement))
        assert(refused.contains(expected), refused)
      }
    }
    assert(read(path).count() == 100)
  }
}
