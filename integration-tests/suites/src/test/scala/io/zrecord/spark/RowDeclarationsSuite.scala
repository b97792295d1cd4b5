package io.zrecord.spark

import io.zrecord.schema.{Constraint, Identity}
import io.zrecord.table.DeclarationChange
import org.apache.spark.sql.Row

/** What a table declares holds when records are updated and merged. */
class RowDeclarationsSuite extends SparkSuite {
  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private val evaluates = spark.version.split('.').take(2).map(_.toInt).toSeq match {
    case Seq(major, minor) => major > 4 || major == 4 && minor >= 1
  }

  /** A table with a check of its labels. */
  private def checked(): String = {
    val path = freshPath()
    write(
      spark.range(0, 20, 1, 2).selectExpr("id", "cast(id as int) label", "concat('t', id) text"),
      path,
      "append"
    )
    val version = tableAt(path).latest()
    val label = java.util.List.of[Integer](version.schema().find("label").get().id())
    DeclarationChange
      .of(version)
      .add(
        new Constraint(
          "small",
          Constraint.Kind.CHECK,
          label,
          "label < 100",
          java.util.Optional.empty(),
          true
        )
      )
      .commit()
    s"zrecord.`$path`"
  }

  private def rows(table: String): Seq[Row] = sql(s"select * from $table order by id")

  test("a check of the table is true of each record that a statement changes or adds") {
    val changes = "(select id from range(15, 25)) c on t.id = c.id"
    for (
      (good, bad) <- Seq(
        "update T set label = label + 1 where id < 5" ->
          "update T set label = label + 99 where id = 5",
        "update T set label = 99, text = 'x'" -> "update T set label = id * 50",
        s"merge into T t using $changes when matched then update set label = 50" ->
          s"merge into T t using $changes when matched then update set label = 100",
        s"merge into T t using $changes when matched then update set text = 'm'" +
          " when not matched then insert (id, label, text) values (c.id, 1, 'n')" ->
          (s"merge into T t using $changes when matched then update set text = 'm'" +
            " when not matched then insert (id, label, text) values (c.id, 100, 'n')"),
        s"merge into T t using $changes" +
          " when not matched then insert (id, label, text) values (c.id + 100, 1, 'n')" ->
          (s"merge into T t using $changes" +
            " when not matched then insert (id, label, text) values (c.id + 100, 100, 'n')")
      )
    ) withClue(good) {
      val table = checked()
      val before = rows(table)
      if (evaluates) {
        val refused = failure(sql(bad.replace("T", table)))
        assert(refused.contains("CHECK_CONSTRAINT_VIOLATION"), refused)
        assert(rows(table) == before)
        sql(good.replace("T", table))
        assert(rows(table) != before)
      } else {
        for (statement <- Seq(good, bad)) {
          val refused = failure(sql(statement.replace("T", table)))
          assert(refused.contains("small"), refused)
        }
        assert(rows(table) == before)
      }
    }
  }

  test("what a check does not read is changed on every Spark, and records are deleted") {
    val table = checked()
    sql(s"update $table set text = 'new' where id = 3")
    assert(sql(s"select text, label from $table where id = 3") == Seq(Row("new", 3)))
    sql(s"delete from $table where label = 3")
    sql(s"delete from $table where _index = 0")
    assert(rows(table).map(_.getLong(0)) == (1L until 20).filterNot(Set(3L)))
  }

  test("null is no value of a column that is never null") {
    val table = s"zrecord.`${freshPath()}`"
    sql(s"create table $table (id bigint not null, n bigint) using zrecord")
    sql(s"insert into $table values (1, 1), (2, null)")
    val refused = failure(sql(s"update $table set id = n"))
    assert(refused.toLowerCase.contains("null"), refused)
    assert(sql(s"select id from $table order by id") == Seq(Row(1L), Row(2L)))
    sql(s"update $table set n = null where id = 1")
    assert(sql(s"select n from $table") == Seq(Row(null), Row(null)))
  }

  test("numbers that the table always generates are not assigned, and new records get them") {
    val path = freshPath()
    val table = s"zrecord.`$path`"
    sql(s"create table $table (number bigint not null, id bigint) using zrecord")
    sql(s"insert into $table select /*+ coalesce(1) */ id, id from range(0, 5, 1, 1)")
    val version = tableAt(path).latest()
    DeclarationChange
      .of(version)
      .add(Identity.always(version.schema().find("number").get().id(), 100, 1))
      .commit()
    val refused = failure(sql(s"update $table set number = 7 where id = 1"))
    assert(refused.contains("number") && refused.contains("generated"), refused)
    sql(s"update $table set id = 50 where id = 1")
    sql(
      s"""merge into $table t using (select id from range(4, 7)) c on t.id = c.id
         | when matched then update set id = 40
         | when not matched then insert (number, id) values (null, c.id)""".stripMargin
    )
    assert(
      sql(s"select id, number from $table order by number").map(row => (row(0), row(1))) ==
        Seq((0L, 0L), (50L, 1L), (2L, 2L), (3L, 3L), (40L, 4L), (5L, 100L), (6L, 101L))
    )
  }

  test("records of partitions are changed, and stay in their partitions") {
    val path = freshPath()
    val table = s"zrecord.`$path`"
    sql(
      s"create table $table (id bigint, part string, label int) using zrecord partitioned by (part)"
    )
    sql(
      s"insert into $table select id, if(id % 4 = 0, null, concat('p', id % 4)), 0 from range(40)"
    )
    val parts = sql(s"select id, part from $table order by id")
    sql(s"update $table set label = 1 where part = 'p1' or part is null")
    sql(s"update $table set part = concat('p', id % 4), label = 2 where id in (2, 6)")
    sql(s"""merge into $table t using (select id, concat('p', id % 4) part, 3 label
         | from range(39, 43)) c on t.id = c.id when matched then update set *
         | when not matched then insert *""".stripMargin)
    def label(id: Long): Int = id match {
      case 2 | 6 => 2
      case _ if id >= 39 => 3
      case _ => if (id % 4 < 2) 1 else 0
    }
    assert(
      sql(s"select id, label from $table order by id") == (0L until 43).map(id =>
        Row(id, label(id))
      )
    )
    assert(sql(s"select id, part from $table where id < 40 order by id") == parts)
    sql(s"delete from $table where part = 'p3'")
    sql(s"delete from $table where part is null and _index >= 0")
    assert(
      sql(s"select distinct part from $table order by part") ==
        Seq(Row("p0"), Row("p1"), Row("p2"))
    )
    assert(Verify.of(spark, path).allVersions().run().isSound)
  }
}
