package io.zrecord.spark

import java.util.concurrent.atomic.AtomicReference

import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{RecordTable, RowChange}
import org.apache.spark.sql.Row

/** What another program commits while a statement's tasks run. */
object Meanwhile {
  val action = new AtomicReference[() => Unit]()
  val failure = new AtomicReference[Throwable]()

  /** Runs the action once, in a thread that is none of a task. */
  def run(): Boolean = {
    Option(action.getAndSet(null)).foreach { body =>
      val thread = new Thread(() =>
        try body()
        catch { case e: Throwable => failure.set(e) }
      )
      thread.start()
      thread.join()
    }
    true
  }
}

/** Statements that change records, and commits that come in between: a table of both. */
class RowConflictsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private class Contested {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"
    sql(s"create table $name (id bigint, label int, text string) using zrecord")
    sql(s"insert into $name select /*+ coalesce(1) */ id, 0, concat('t', id) from range(10)")
    sql(s"insert into $name select /*+ coalesce(1) */ id, 0, concat('t', id) from range(10, 20)")

    def engine: RecordTable = RecordTable.at(SparkStorages.storageFor(path))

    def change(body: RowChange => Unit): Unit = {
      val change = RowChange.of(engine.latest())
      body(change)
      change.commit()
    }

    def rows: Set[Seq[Any]] = sql(s"select * from $name").map(_.toSeq).toSet
  }

  private case class Statement(name: String, text: String, effect: Set[Seq[Any]] => Set[Seq[Any]])

  private def labelled(ids: Set[Long], label: Int)(rows: Set[Seq[Any]]): Set[Seq[Any]] =
    rows.map(row => if (ids(row.head.asInstanceOf[Long])) row.updated(1, label) else row)

  private val statements = Seq(
    Statement(
      "a DELETE",
      "delete from T where id = 5 and meanwhile(id)",
      _.filterNot(_.head == 5L)
    ),
    Statement(
      "an UPDATE",
      "update T set label = 7 where id = 5 and meanwhile(id)",
      labelled(Set(5L), 7)
    ),
    Statement(
      "an UPDATE from other records",
      "update T set label = (select count(*) from T where meanwhile(id)) where id = 5",
      labelled(Set(5L), 20)
    ),
    Statement(
      "a MERGE that updates",
      "merge into T t using (select 5L as id) c on t.id = c.id and meanwhile(t.id)" +
        " when matched then update set label = 7",
      labelled(Set(5L), 7)
    ),
    Statement(
      "a MERGE that inserts and updates",
      "merge into T t using (select explode(array(5L, 50L)) as id) c on t.id = c.id and meanwhile(t.id)" +
        " when matched then update set label = 7" +
        " when not matched then insert (id, label, text) values (c.id, 7, 'new')",
      rows => labelled(Set(5L), 7)(rows) + Seq(50L, 7, "new")
    ),
    Statement(
      "a MERGE that only inserts",
      "merge into T t using (select explode(array(5L, 50L)) as id) c on t.id = c.id and meanwhile(t.id)" +
        " when not matched then insert (id, label, text) values (c.id, 7, 'new')",
      rows => rows + Seq(50L, 7, "new")
    ),
    Statement(
      "an INSERT of what the table has",
      "insert into T select id + 100, label, 'copy' from T where id = 5 and meanwhile(id)",
      rows => rows + Seq(105L, 0, "copy")
    )
  )

  private val dependent =
    Set(
      "an UPDATE from other records",
      "a MERGE that inserts and updates",
      "a MERGE that only inserts",
      "an INSERT of what the table has"
    )

  private val insertsOnly = Set("a MERGE that only inserts", "an INSERT of what the table has")

  /** A commit in between: what it does, and with which statements it is in conflict. */
  private case class Other(
      name: String,
      commit: Contested => Unit,
      effect: Set[Seq[Any]] => Set[Seq[Any]],
      conflicts: String => Boolean
  )

  private val others = Seq(
    Other(
      "an append",
      t =>
        spark
          .newSession()
          .range(33, 34)
          .selectExpr("id", "3 label", "'other' text")
          .write
          .format("zrecord")
          .mode("append")
          .save(t.path),
      _ + Seq(33L, 3, "other"),
      dependent
    ),
    Other(
      "a deletion of another record of the shard",
      _.change(_.delete(3)),
      _.filterNot(_.head == 3L),
      dependent
    ),
    Other(
      "a deletion of the record",
      _.change(_.delete(5)),
      _.filterNot(_.head == 5L),
      _ => true
    ),
    Other(
      "an update of another record of the shard",
      _.change(_.update(3, "label", 9: Integer)),
      labelled(Set(3L), 9),
      dependent
    ),
    Other(
      "an update of the record",
      _.change(_.update(5, "label", 9: Integer)),
      labelled(Set(5L), 9),
      _ => true
    ),
    Other(
      "an update of another field of the record",
      _.change(_.update(5, "text", "other")),
      _.map(row => if (row.head == 5L) row.updated(2, "other") else row),
      _ => true
    ),
    Other("a tag", t => t.engine.tag(t.engine.latest().version(), "tag"), identity, _ => false)
  )

  for (snapshot <- Seq(false, true); statement <- statements) {
    val isolation = if (snapshot) "snapshot" else "serializable"
    test(s"${statement.name} beside other commits, with isolation $isolation") {
      spark.udf.register("meanwhile", (id: Long) => Meanwhile.run())
      for (other <- others) {
        val t = new Contested
        if (snapshot)
          sql(s"alter table ${t.name} set tblproperties ('zrecord.isolation' = 'snapshot')")
        val before = t.rows
        Meanwhile.action.set(() => other.commit(t))
        val clue = s"${statement.name} × ${other.name}"
        val conflicts =
          if (snapshot) other.conflicts("") && !insertsOnly(statement.name)
          else other.conflicts(statement.name)
        if (conflicts) {
          val refused = failure(sql(statement.text.replace("T", t.name)))
          assert(Meanwhile.failure.get() == null, clue)
          assert(Meanwhile.action.get() == null, clue)
          assert(
            refused.toLowerCase.contains("conflict") || refused.contains("changed"),
            s"$clue: $refused"
          )
          assert(t.rows == other.effect(before), clue)
        } else {
          sql(statement.text.replace("T", t.name))
          assert(Meanwhile.failure.get() == null, clue)
          assert(Meanwhile.action.get() == null, clue)
          assert(t.rows == other.effect(statement.effect(before)), clue)
        }
      }
    }
  }
}
