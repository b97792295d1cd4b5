package io.zrecord.spark

import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.RecordTable
import org.apache.spark.sql.Row

/** DELETE, UPDATE and MERGE, at names, at paths and in the session's catalog. */
class RowChangesSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** A table of 3 shards of 100 records, which are computed from their ids. */
  private class Changed(val name: String, path: String) {
    def table: RecordTable = RecordTable.at(SparkStorages.storageFor(path))

    def rows: Seq[Seq[Any]] =
      sql(s"select id, label, text, numbers from $name order by _index")
        .map(row =>
          Seq(
            row.get(0),
            row.get(1),
            row.get(2),
            if (row.isNullAt(3)) null else row.getSeq[Int](3).toSeq
          )
        )

    /** Runs a statement, and compares the rows with those that a query computes before. */
    def becomes(statement: String)(query: String): Unit = {
      val expected = sql(query.replace("TABLE", s"(select *, _index from $name)"))
        .map(row =>
          Seq(
            row.get(0),
            row.get(1),
            row.get(2),
            if (row.isNullAt(3)) null else row.getSeq[Int](3).toSeq
          )
        )
      val before = table.latest().version()
      val old = sql(
        s"select id, label, text from zrecord.`$path` version as of $before order by _index"
      )
      sql(statement.replace("TABLE", name))
      assert(rows == expected, statement)
      assert(table.latest().version() == before + 1, statement)
      assert(
        sql(
          s"select id, label, text from zrecord.`$path` version as of $before order by _index"
        ) == old
      )
      assert(spark.table(name).count() == expected.size)
    }
  }

  private def created(place: String): Changed = {
    val table = freshTable()
    val path = s"$warehouse/$table"
    val name = place match {
      case "a name" => s"lake.$table"
      case "a path" => s"zrecord.`$path`"
      case _ => table
    }
    val location = if (place == "a session table") s"location '$path'" else ""
    sql(
      s"create table $name (id bigint, label int, text string, numbers array<int>)" +
        s" using zrecord $location"
    )
    for (part <- 0 until 3)
      sql(s"""insert into $name select /*+ coalesce(1) */ id, cast(id % 10 as int),
             |  if(id % 7 = 0, null, concat('text ', id)), if(id % 5 = 0, null, array(cast(id as int), 1))
             |  from range(${part * 100}, ${part * 100 + 100}, 1, 1)""".stripMargin)
    new Changed(name, path)
  }

  private val all = "id, label, text, numbers"

  for (place <- Seq("a name", "a path", "a session table")) {
    test(s"records of $place are deleted") {
      val t = created(place)
      t.becomes("delete from TABLE where label = 3")(
        s"select $all from TABLE where label <> 3 order by _index"
      )
      t.becomes("delete from TABLE where text is null or id between 90 and 110")(
        s"select $all from TABLE where not (text is null or id between 90 and 110) order by _index"
      )
      t.becomes("delete from TABLE where _index in (0, 7, 100)")(
        s"select $all from TABLE where _index not in (0, 7, 100) order by _index"
      )
      t.becomes("delete from TABLE where id in (select id + 1 from TABLE where label = 5)")(
        s"select $all from TABLE where not id in (select id + 1 from TABLE where label = 5)" +
          " order by _index"
      )
      t.becomes("delete from TABLE where id >= 200")(
        s"select $all from TABLE where id < 200 order by _index"
      )
      val version = t.table.latest().version()
      sql(s"delete from ${t.name} where label = 77")
      assert(t.table.latest().version() == version, "nothing to delete makes no version")
      t.becomes("delete from TABLE")(s"select $all from TABLE where false")
    }

    test(s"records of $place are updated") {
      val t = created(place)
      t.becomes("update TABLE set label = label + 100 where id % 3 = 0")(
        s"select id, if(id % 3 = 0, label + 100, label), text, numbers from TABLE order by _index"
      )
      t.becomes("update TABLE set text = concat(text, '!'), numbers = null where id < 150")(
        s"select id, label, if(id < 150, concat(text, '!'), text)," +
          " if(id < 150, null, numbers) from TABLE order by _index"
      )
      t.becomes("update TABLE set id = label, label = cast(id as int) where _index = 42")(
        s"select if(_index = 42, label, id), if(_index = 42, cast(id as int), label), text, numbers" +
          " from TABLE order by _index"
      )
      t.becomes("update TABLE set numbers = array(7, 8, label), text = null where numbers is null")(
        s"select id, label, if(numbers is null, null, text)," +
          " coalesce(numbers, array(7, 8, label)) from TABLE order by _index"
      )
      t.becomes("update TABLE set label = (select max(label) from TABLE) where id = 3")(
        s"select id, if(id = 3, (select max(label) from TABLE), label), text, numbers from TABLE" +
          " order by _index"
      )
      t.becomes("update TABLE set label = -1")(
        s"select id, -1, text, numbers from TABLE order by _index"
      )
      t.becomes("delete from TABLE where id % 2 = 0")(
        s"select $all from TABLE where id % 2 <> 0 order by _index"
      )
      t.becomes("update TABLE set label = 5 where id > 100")(
        s"select id, if(id > 100, 5, label), text, numbers from TABLE order by _index"
      )
    }

    test(s"records of $place are merged") {
      val t = created(place)
      sql(
        "create or replace temp view changes as select id, cast(id * 2 as int) l, concat('new ', id) t" +
          " from range(250, 350, 3)"
      )
      t.becomes("""merge into TABLE t using changes c on t.id = c.id
          | when matched and c.id % 2 = 0 then delete
          | when matched then update set label = c.l
          | when not matched then insert (id, label, text, numbers) values (c.id, c.l, c.t, array(1))
          |""".stripMargin)(
        s"""select $all from (
           |  select t.id, coalesce(c.l, label) label, text, numbers, _index
           |  from TABLE t left join changes c on t.id = c.id where c.id is null or c.id % 2 <> 0
           |  union all
           |  select c.id, l, c.t, array(1), 1000 + c.id from changes c
           |  where c.id not in (select id from TABLE)) order by _index""".stripMargin
      )
      t.becomes("""merge into TABLE t using (select * from range(100)) c on t.id = c.id
          | when matched then update set text = 'matched'
          | when not matched by source and t.id > 300 then delete
          | when not matched by source then update set label = 0
          |""".stripMargin)(
        s"""select id, if(id < 100, label, 0), if(id < 100, 'matched', text), numbers
           | from TABLE where not id > 300 order by _index""".stripMargin
      )
      t.becomes("""merge into TABLE t using (select id + 1000 as id, label, text, numbers
          |  from TABLE where id < 5) c on t.id = c.id when not matched then insert *
          |""".stripMargin)(
        s"""select $all from (select $all, _index from TABLE union all
           | select id + 1000, label, text, numbers, 1000 + id from TABLE where id < 5)
           | order by _index""".stripMargin
      )
      val refused = failure(
        sql(
          s"""merge into ${t.name} t using (select 1 as id union all select 1) c on t.id = c.id
           | when matched then update set label = 1""".stripMargin
        )
      )
      assert(refused.toLowerCase.contains("merge"), refused)
    }

    test(s"$place is truncated by its metadata") {
      val t = created(place)
      t.becomes("truncate table TABLE")(s"select $all from TABLE where false")
      sql(s"insert into ${t.name} values (1, 2, 'x', array(3))")
      assert(t.rows == Seq(Seq(1L, 2, "x", Seq(3))))
    }
  }
}
