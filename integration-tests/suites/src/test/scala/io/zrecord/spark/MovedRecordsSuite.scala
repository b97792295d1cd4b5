package io.zrecord.spark

import scala.collection.JavaConverters._
import scala.util.Random

import io.zrecord.changes.TableChanges
import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import io.zrecord.schema.{Compression, ElementType, FieldRules, FieldSpec, Identity, Shape}
import io.zrecord.spark.rules.ColumnsOfRowChanges
import io.zrecord.table.DeclarationChange
import io.zrecord.testing.Budget
import org.apache.spark.sql.Row

/** An UPDATE or a MERGE that changes a value by which a table is partitioned moves the record. */
class MovedRecordsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private class Table(columns: String, by: String) {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"
    sql(s"create table $name ($columns) using zrecord partitioned by ($by)")

    def rows(columns: String = "*"): Seq[Row] = sql(s"select $columns from $name order by id")
    def version: Long = tableAt(path).latest().version()

    /** Requires that each shard has the records of its partition alone, and that all are sound. */
    def requirePartitions(): Unit = {
      val columns = by.split(", ").toSeq
      val parts = sql(
        s"select _shard, ${columns.mkString(", ")} from $name group by _shard, ${columns.mkString(", ")}"
      )
      assert(parts.map(_.get(0)).distinct.size == parts.size, parts)
      assert(Verify.of(spark, path).allVersions().run().isSound)
    }

    /** Returns how many records the newest version moved, deleted, changed and inserted. */
    def changes: (Int, Long, Long, Long) = {
      val storage = tableAt(path).storage()
      val last = TableChanges.of(storage).of(version)
      val records = last.shards().asScala.map(_.read(storage))
      (
        last.moves(storage).count(),
        records.map(_.deleted().count()).sum,
        records.map(_.changedAfter().count()).sum,
        records.map(_.inserted().count()).sum
      )
    }
  }

  /** All columns, in two partitions and one of records without a value. */
  private def wide(): Table = {
    val table = new Table(
      "id bigint not null, part string, label int, image binary, text string," +
        " nested struct<a: int, b: array<string>>, tensor array<float>, price decimal(20, 2)," +
        " at timestamp, flag boolean",
      "part"
    )
    sql(s"""insert into ${table.name} select id, if(id % 3 = 0, null, concat('p', id % 3)),
           | cast(id as int), cast(repeat('x', 1000 + id) as binary), if(id % 4 = 0, null, concat('t', id)),
           | if(id % 5 = 0, null, named_struct('a', cast(id as int), 'b', array('x', null))),
           | array(cast(id as float), 0.5F), cast(id / 7 as decimal(20, 2)),
           | timestamp'2024-01-01 00:00:00' + make_interval(0, 0, 0, id), id % 2 = 0
           | from range(0, 60, 1, 4)""".stripMargin)
    table
  }

  private val Excluded = "spark.sql.optimizer.excludedRules"

  /** Statements, what they do to a row, and how many records move. */
  private val statements = Seq[(String, Row => Option[(String, Int)], Int)](
    (
      "update T set part = 'p2' where id < 10",
      row => Some((if (id(row) < 10) "p2" else part(row), label(row))),
      7
    ),
    (
      "update T set part = 'new', label = label + 100 where id % 10 = 1",
      row => Some(if (id(row) % 10 == 1) ("new", label(row) + 100) else (part(row), label(row))),
      6
    ),
    (
      "update T set part = null where part = 'p1'",
      row => Some((if (part(row) == "p1") null else part(row), label(row))),
      20
    ),
    (
      "update T set part = case when id < 30 then part else 'p1' end, label = -1 where label < 40",
      row =>
        Some(
          if (id(row) >= 40) (part(row), label(row))
          else (if (id(row) < 30) part(row) else "p1", -1)
        ),
      7
    ),
    (
      """merge into T t using (select id, concat('q', id % 2) part from range(3, 9)) c on t.id = c.id
        | when matched and t.id = 4 then delete
        | when matched and t.id > 6 then update set label = 7
        | when matched then update set part = c.part
        | when not matched by source and t.id > 57 then update set part = 'p2'""".stripMargin,
      row =>
        id(row) match {
          case 4 => None
          case 7 | 8 => Some((part(row), 7))
          case i if i >= 3 && i < 7 => Some((s"q${i % 2}", label(row)))
          case i if i > 57 => Some(("p2", label(row)))
          case _ => Some((part(row), label(row)))
        },
      4
    )
  )

  private def id(row: Row): Long = row.getAs[Long]("id")
  private def part(row: Row): String = row.getAs[String]("part")
  private def label(row: Row): Int = row.getAs[Int]("label")

  for ((statement, change, moved) <- statements; narrowing <- Seq(true, false))
    test(
      s"records move, and keep all other values: ${statement.replace('\n', ' ')}" +
        (if (narrowing) "" else " (without the rule of columns)")
    ) {
      val table = wide()
      val before = table.rows()
      val old = table.version
      if (!narrowing) spark.conf.set(Excluded, classOf[ColumnsOfRowChanges].getName)
      try sql(statement.replace("T ", table.name + " "))
      finally spark.conf.unset(Excluded)
      val expected = before.flatMap { row =>
        change(row).map { case (part, label) =>
          Row.fromSeq(row.toSeq.updated(1, part).updated(2, label).map(same))
        }
      }
      assert(table.rows().map(row => Row.fromSeq(row.toSeq.map(same))) == expected)
      assert(
        sql(s"select count(*) from ${table.name} version as of $old") == Seq(
          Row(before.size.toLong)
        )
      )
      table.requirePartitions()
      assert(table.changes._1 == moved)
    }

  /** A value that equals another one of the same bytes. */
  private def same(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case other => other
  }

  test("records that stay in their partitions get the assigned values alone") {
    val table = wide()
    def bytes: Long = filesOf(table.path).names.toSeq.map(filesOf(table.path).bytes(_).length).sum
    val before = bytes
    sql(s"update ${table.name} set part = part, label = -1")
    assert(table.changes == ((0, 0, 60, 0)))
    assert(bytes - before < 30000, "60 images of 1 KB were written again")
  }

  test("a record keeps its number, and new records get theirs") {
    val table = new Table("number bigint not null, id bigint, part int", "part")
    sql(s"insert into ${table.name} select /*+ coalesce(1) */ id, id, 0 from range(0, 5, 1, 1)")
    val version = tableAt(table.path).latest()
    DeclarationChange
      .of(version)
      .add(Identity.always(version.schema().find("number").get().id(), 100, 1))
      .commit()
    sql(s"update ${table.name} set part = 1 where id in (1, 3)")
    sql(
      s"""merge into ${table.name} t using (select id from range(3, 6)) c on t.id = c.id
         | when matched then update set part = 2
         | when not matched then insert (number, id, part) values (null, c.id, 2)""".stripMargin
    )
    assert(
      table.rows("id, number, part").map(_.toSeq) == Seq(
        Seq(0L, 0L, 0),
        Seq(1L, 1L, 1),
        Seq(2L, 2L, 0),
        Seq(3L, 3L, 2),
        Seq(4L, 4L, 2),
        Seq(5L, 100L, 2)
      )
    )
    table.requirePartitions()
    assert(table.changes._1 == 2)
  }

  test("a record that moves does not get another number, with the rule of columns and without") {
    val table = new Table("number bigint not null, id bigint, part int", "part")
    sql(s"insert into ${table.name} select /*+ coalesce(1) */ id, id, 0 from range(0, 5, 1, 1)")
    val latest = tableAt(table.path).latest()
    DeclarationChange
      .of(latest)
      .add(Identity.always(latest.schema().find("number").get().id(), 100, 1))
      .commit()
    val version = table.version
    for (
      narrowing <- Seq(true, false);
      statement <- Seq(
        s"update ${table.name} set part = 1, number = 7 where id = 1",
        s"merge into ${table.name} t using (select 1L id) c on t.id = c.id" +
          " when matched then update set part = 9, number = 7"
      )
    ) {
      if (!narrowing) spark.conf.set(Excluded, classOf[ColumnsOfRowChanges].getName)
      try {
        val refused = failure(sql(statement))
        assert(refused.contains("number") && refused.contains("generate"), refused)
      } finally spark.conf.unset(Excluded)
      assert(table.version == version)
    }
    spark.conf.set(Excluded, classOf[ColumnsOfRowChanges].getName)
    try sql(s"update ${table.name} set part = 1 where id = 1")
    finally spark.conf.unset(Excluded)
    assert(table.rows("id, number, part").map(_.toSeq)(1) == Seq(1L, 1L, 1))
  }

  test("two columns of partitions, of types other than text") {
    val table = new Table("id bigint, day date, price decimal(10, 2)", "day, price")
    sql(
      s"insert into ${table.name} select id, date'2024-01-01' + cast(id % 3 as int), id % 2 from range(12)"
    )
    sql(s"update ${table.name} set day = date'1582-10-04', price = price + 0.50 where id < 4")
    sql(s"update ${table.name} set price = null where id = 5")
    assert(
      table.rows("id, cast(day as string), cast(price as string)").map(_.toSeq).take(6) == Seq(
        Seq(0L, "1582-10-04", "0.50"),
        Seq(1L, "1582-10-04", "1.50"),
        Seq(2L, "1582-10-04", "0.50"),
        Seq(3L, "1582-10-04", "1.50"),
        Seq(4L, "2024-01-02", "0.00"),
        Seq(5L, "2024-01-03", null)
      )
    )
    assert(sql(s"select count(*) from ${table.name} where price = 0.5") == Seq(Row(2L)))
    table.requirePartitions()
  }

  test("new records of a merge make a shard for each partition of a task") {
    val table = new Table("id bigint, part int, text string", "part")
    sql(s"insert into ${table.name} values (0, 0, 'a')")
    val ids = "select id, cast(id % 40 as int) part, concat('t', id) text from range(0, 2000, 1, 7)"
    sql(
      s"""merge into ${table.name} t using ($ids) c on t.id = c.id
         | when matched then update set part = 39 when not matched then insert *""".stripMargin
    )
    val shards = tableAt(table.path).latest().shards().size()
    val tasks = spark.sparkContext.defaultParallelism
    assert(shards <= 1 + 41 * tasks, s"$tasks tasks")
    assert(table.rows("part").map(_.getInt(0)) == 39 +: (1 until 2000).map(_ % 40))
    table.requirePartitions()
  }

  test("a record with a field that Spark does not write whole stays, or the statement is refused") {
    val table = new Table("id bigint, part int, label int", "part")
    sql(s"insert into ${table.name} values (1, 1, 0), (2, 2, 0)")
    tableAt(table.path).addFields(
      java.util.List.of(
        new FieldSpec(9, "word", ElementType.U32, Shape.scalar(), Compression.RAW)
          .withRules(FieldRules.NONE.withInitial(Array[Byte](7, 0, 0, 0)))
      )
    )
    val matched =
      s"merge into ${table.name} t using (select 1L id) c on t.id = c.id when matched then"
    sql(s"update ${table.name} set label = 1 where id = 1")
    sql(s"$matched update set label = label + 1")
    val version = table.version
    for (
      statement <- Seq(
        s"update ${table.name} set part = 2 where id = 1",
        s"$matched update set part = 2",
        s"update ${table.name} set word = 8",
        s"$matched update set word = 8"
      )
    ) {
      val refused = failure(sql(statement))
      assert(refused.contains("word") && refused.contains("u32"), refused)
    }
    assert(table.version == version)
    assert(
      table.rows("id, part, label, word").map(_.toSeq) == Seq(Seq(1L, 1, 2, 7L), Seq(2L, 2, 0, 7L))
    )
  }

  /** What another commits while a record moves, whether both take effect, and the record's label.
    */
  private val others = Seq[(String, Table => Unit, Boolean)](
    ("an append", t => sql(s"insert into ${t.name} values (60, 9, 0)"), true),
    (
      "a rebalance",
      t => {
        val options = RebalanceOptions.defaults().withAllShards()
        TableRebalance.of(RebalancePlan.of(tableAt(t.path).latest(), options)).run()
      },
      true
    ),
    ("an update of another record", t => sql(s"update ${t.name} set label = 5 where id = 4"), true),
    ("a move of another record", t => sql(s"update ${t.name} set part = 8 where id = 4"), true),
    ("an update of the record", t => sql(s"update ${t.name} set label = 5 where id = 1"), false),
    ("a move of the record", t => sql(s"update ${t.name} set part = 8 where id = 1"), false),
    ("a deletion of the record", t => sql(s"delete from ${t.name} where id = 1"), false)
  )

  for ((what, commit, commutes) <- others)
    test(s"a record moves beside $what, which is ${if (commutes) "no" else "a"} conflict") {
      val table = new Table("id bigint, part int, label int", "part")
      sql(s"insert into ${table.name} select id, id % 3, 0 from range(0, 30, 1, 1)")
      sql(s"insert into ${table.name} select id, id % 3, 0 from range(30, 60, 1, 1)")
      spark.udf.register("meanwhile", (id: Long) => Meanwhile.run())
      Meanwhile.action.set(() => commit(table))
      val moving = s"update ${table.name} set part = 9 where id in (1, 31) and meanwhile(id)"
      if (commutes) sql(moving)
      else {
        val refused = failure(sql(moving))
        assert(refused.toLowerCase.contains("conflict") || refused.contains("changed"), refused)
      }
      assert(Meanwhile.failure.get() == null && Meanwhile.action.get() == null)
      val moved = sql(s"select id from ${table.name} where part = 9 and id < 60 order by id")
      assert(moved == (if (commutes) Seq(Row(1L), Row(31L)) else Seq.empty))
      table.requirePartitions()
    }

  test(s"random statements that move records, against a map (seed ${Budget.seed})") {
    for (run <- 0 until math.max(1, Budget.of(5))) {
      val random = new Random(Budget.seed + run)
      val table = new Table("id bigint, part string, label int", "part")
      var model = Map.empty[Long, (String, Int)]
      val history = scala.collection.mutable.Map.empty[Long, Map[Long, (String, Int)]]
      var next = 0L
      def found(selection: String): Map[Long, (String, Int)] =
        sql(s"select id, part, label from $selection")
          .map(row => row.getLong(0) -> ((row.getString(1), row.getInt(2))))
          .toMap
      for (step <- 0 until 14) {
        val (k, r, n) = (2 + random.nextInt(6), random.nextInt(2), random.nextInt(5))
        val to = if (n == 0) null else s"p$n"
        val literal = if (to == null) "null" else s"'$to'"
        val statement = random.nextInt(if (model.isEmpty) 1 else 6) match {
          case 0 =>
            val ids = next until next + 20
            next += 20
            model ++= ids.map(i => i -> ((s"p${i % 3}", i.toInt)))
            s"insert into T select id, concat('p', id % 3), cast(id as int) from range(${ids.head}, ${ids.last + 1})"
          case 1 | 2 =>
            model = model.map { case (i, (part, label)) =>
              i -> (if (i % k == r) (to, label + 1) else (part, label))
            }
            s"update T set part = $literal, label = label + 1 where id % $k = $r"
          case 3 =>
            model = model.filterNot(_._1 % k == r)
            s"delete from T where id % $k = $r"
          case 4 =>
            val source = (next - 5 until next + 5).toSet
            model = model.map { case (i, (part, label)) =>
              i -> (if (source(i)) (to, label) else if (part == "p1") (part, -n) else (part, label))
            } ++ source.filterNot(model.contains).filter(_ >= 0).map(i => i -> (("new", 0)))
            val first = math.max(0, next - 5)
            next += 5
            s"""merge into T t using (select id from range($first, $next)) c on t.id = c.id
               | when matched then update set part = $literal
               | when not matched then insert (id, part, label) values (c.id, 'new', 0)
               | when not matched by source and part = 'p1' then update set label = -$n""".stripMargin
          case _ =>
            val options = RebalanceOptions.defaults().withAllShards()
            TableRebalance.of(RebalancePlan.of(tableAt(table.path).latest(), options)).run()
            "select 1"
        }
        sql(statement.replace("T ", table.name + " "))
        assert(found(table.name) == model, s"step $step: $statement")
        history(table.version) = model
      }
      table.requirePartitions()
      for ((version, expected) <- history)
        assert(found(s"${table.name} version as of $version") == expected, s"version $version")
    }
  }
}
