package io.zrecord.spark

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.rebalance.order.{Direction, RecordOrder}
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{CareMode, ExpireOptions, RecordTable, SweepOptions}
import org.apache.spark.sql.SparkSession

/** A table that two operations change at once, as one of them sees it.
  *
  * @param path
  *   for what takes no name
  * @param base
  *   the version that was there before both
  */
class PairedTable(val session: SparkSession, name: String, val path: String, val base: Long) {
  def sql(text: String): Unit = {
    session.sql(text.replaceAll("\\bT\\b", name)).collect()
    ()
  }

  def columns: Columns = Columns.of(session, name).asOf(base)

  /** Calls a procedure, or what the procedure calls where Spark has no CALL. */
  def call(procedure: String, arguments: String)(otherwise: RecordTable => Any): Unit = {
    if (session.version.startsWith("3.")) otherwise(RecordTable.at(SparkStorages.storageFor(path)))
    else sql(s"call held.system.$procedure('T'$arguments)")
    ()
  }
}

/** What an operation is of, so that two of one kind can differ.
  *
  * @param id
  *   of the record that is changed
  * @param partition
  *   that is changed as a whole
  * @param number
  *   0 for the operation that commits second, 1 for the one that comes first
  */
case class Role(id: Long, partition: String, number: Int)

/** An operation on a table.
  *
  * @param name
  *   as the page has it
  * @param scope
  *   what of the table it changes
  * @param needs
  *   names of the columns without which it fails
  * @param run
  *   does it
  * @param effect
  *   does the same to the model
  * @param since
  *   the oldest Spark that has it
  * @param anew
  *   does to the model what the operation does that is planned on this model
  */
case class PairedOperation(
    name: String,
    scope: PairedOperation.Scope,
    needs: Role => Set[String],
    run: (PairedTable, Role) => Unit,
    effect: (ListedTable, Role) => ListedTable,
    since: String = "3.5",
    anew: Option[(ListedTable, Role) => ListedTable] = None
) {
  import PairedOperation._

  /** Tells whether the operation succeeds on a table, if it is alone. A sweep also does where a
    * table was dropped.
    */
  def isPossible(t: ListedTable, role: Role): Boolean =
    name == "sweep" || t.has(needs(role)) && !(t.isExpired && readsVersions)

  /** Tells whether the operation is of a version that may be expired. */
  private def readsVersions = name == "tag of an old version" || name == "rollback_to"

  /** Tells whether the operation is a statement of SQL, on a Spark. */
  def isStatement(spark: SparkSession): Boolean =
    !programs(name) && !(procedures(name) && spark.version.startsWith("3."))

  /** Tells whether the operation makes what is gone: the table, or columns. */
  def makesAnew: Boolean = name == "CREATE OR REPLACE" || name == "append with mergeSchema"

  /** Tells whether only a partitioned table has it. */
  def isOfPartitions: Boolean = scope == OfPartition || name == "UPDATE of a partition column"

  /** Returns the operation as it comes first, on what the second one changes too and on other
    * things, with names.
    */
  def firsts: Seq[(String, Role)] = scope match {
    case OfRecord =>
      Seq(
        s"$name of the same record" -> Role(3, "a", 1),
        s"$name of another record" -> Role(4, "a", 1)
      )
    case OfPartition =>
      Seq("the same" -> Role(3, "a", 1), "another" -> Role(3, "b", 1)).map { case (which, role) =>
        name.replace("of a partition", s"of $which partition") -> role
      }
    case OfTable => Seq(name -> Role(3, "a", 1))
  }
}

object PairedOperation {
  sealed trait Scope

  /** One record, which the other operation of a pair may change as well. */
  case object OfRecord extends Scope

  /** All records of a partition, which the table must have. */
  case object OfPartition extends Scope

  /** Anything else. */
  case object OfTable extends Scope

  private val programs = Set("Columns.update", "Columns.add", "rebalance", "relayout")

  /** What is called by CALL, where Spark has that. */
  private val procedures = Set("tag", "tag of an old version", "expire", "sweep", "rollback_to")

  /** A rebalance keeps shards that it could not replace, and says why. */
  class NotRebalanced(reasons: String) extends RuntimeException(reasons)
}

object PairedOperations {
  import PairedOperation._

  /** The version to which the table is rolled back. */
  private val EarlierVersion = 4L

  private val names = Seq("id", "label", "text", "n", "x0", "x1", "y0", "y1")

  private def made(id: Long, part: String): Map[String, Any] =
    names.zip(Seq(id, id.toInt, s"t$id", id, 1, 1, 2, 2)).toMap + ("part" -> part)

  private def values(id: Long) = s"${id}L, ${id}, 't$id', ${id}L, 1, 1, 2, 2"

  private val earlier = ListedTable(
    (names :+ "part").map { name =>
      val dataType = name match {
        case "id" | "n" => "bigint"
        case "text" | "part" => "string"
        case _ => "int"
      }
      ListedColumn(name, name, dataType)
    },
    (0L until 20L).map { id =>
      val record = made(id, if (id < 10) "a" else "b")
      if (id % 10 == 5) record + ("n" -> (id + 1)) else record
    },
    required = Set("id"),
    hasOrphan = true
  )

  /** What [[create]] makes, with a file besides that no version names. */
  val Created: ListedTable = earlier.without(is(9)).setting("label", 100)(is(8))

  /** Makes a table of two shards whose records were changed, and whose column `n` got a wider type
    * after some of its values were changed: so the next change of values of `n` writes the column
    * anew.
    */
  def create(t: PairedTable, isPartitioned: Boolean): Unit = {
    def some(from: Int, part: String) =
      s"insert into T select id, int(id), concat('t', id), int(id), 1, 1, 2, 2, '$part'" +
        s" from range($from, ${from + 10}, 1, 1)"
    t.sql(
      "create table T (id bigint not null, label int, text string, n int, x0 int, x1 int, y0 int," +
        " y1 int, part string) using zrecord" + (if (isPartitioned) " partitioned by (part)"
                                                 else "")
    )
    t.sql(some(0, "a"))
    t.sql(some(10, "b"))
    t.sql("update T set n = n + 1 where id % 10 = 5")
    t.sql("alter table T alter column n type bigint")
    t.sql("delete from T where id = 9")
    t.sql("update T set label = 100 where id = 8")
  }

  private def is(id: Long)(record: Map[String, Any]) = record("id") == id

  private def isIn(partition: String)(record: Map[String, Any]) =
    record.get("part").contains(partition)

  private def all(record: Map[String, Any]) = true

  private def statement(name: String, scope: Scope, needs: String*)(text: Role => String)(
      effect: (ListedTable, Role) => ListedTable
  ) = PairedOperation(name, scope, _ => needs.toSet, (t, role) => t.sql(text(role)), effect)

  private val listed = s"${names.mkString(", ")}, part"
  private val every = names :+ "part"

  private val writes = Seq(
    statement("INSERT", OfTable, every: _*)(r =>
      s"insert into T ($listed) values (${values(100 + r.number)}, 'a')"
    )((t, r) => t.adding(made(100 + r.number, "a"))),
    statement("INSERT of a query of the table", OfTable, every: _*)(r =>
      s"insert into T ($listed) select ${values(110 + r.number)}, max(part) from T where part = 'b'"
    )((t, r) => t.adding(made(110 + r.number, "b")))
      .copy(anew = Some { (t, r) =>
        // The greatest of no values is NULL.
        val added = made(110 + r.number, "b")
        t.adding(if (t.records.exists(isIn("b"))) added else added - "part")
      }),
    PairedOperation(
      "append with mergeSchema",
      OfTable,
      _ => every.toSet,
      (t, r) =>
        t.session
          .sql(s"select ${values(115 + r.number)}, 'a', 6")
          .toDF(every :+ s"m${r.number}": _*)
          .write
          .format("zrecord")
          .mode("append")
          .option("mergeSchema", "true")
          .save(t.path),
      (t, r) =>
        t.addingColumn(s"m${r.number}", "int")
          .adding(made(115 + r.number, "a") + (s"m${r.number}" -> 6))
    ),
    statement("INSERT OVERWRITE", OfTable, every: _*)(r =>
      s"insert overwrite T ($listed) values (${values(120 + r.number)}, 'a')"
    )((t, r) => t.without(all).adding(made(120 + r.number, "a"))),
    statement("INSERT OVERWRITE of a partition", OfPartition, every: _*)(r =>
      s"insert overwrite T partition (part = '${r.partition}') (${names.mkString(", ")})" +
        s" values (${values(130 + r.number)})"
    )((t, r) => t.without(isIn(r.partition)).adding(made(130 + r.number, r.partition))),
    statement("INSERT REPLACE WHERE", OfRecord, every: _*)(r =>
      s"insert into T replace where id = ${r.id} select ${values(140 + r.number)}, 'a'"
    )((t, r) => t.without(is(r.id)).adding(made(140 + r.number, "a"))),
    statement("CREATE OR REPLACE", OfTable)(r =>
      s"create or replace table T using zrecord as select ${160 + r.number}L id, 'a' part"
    )((t, r) =>
      ListedTable(
        Seq(ListedColumn("id", "id", "bigint"), ListedColumn("part", "part", "string")),
        Seq(Map("id" -> (160L + r.number), "part" -> "a")),
        tags = t.tags,
        isExpired = t.isExpired,
        hasOrphan = t.hasOrphan
      )
    )
  )

  private val changes = Seq(
    statement("DELETE", OfRecord, "id")(r => s"delete from T where id = ${r.id}")((t, r) =>
      t.without(is(r.id))
    ),
    statement("DELETE by _index", OfRecord)(r => s"delete from T where _index = ${r.id}")((t, r) =>
      t.without(is(r.id))
    ).copy(anew = Some((t, r) => t.copy(records = t.records.patch(r.id.toInt, Nil, 1)))),
    statement("DELETE of a partition", OfPartition, "part")(r =>
      s"delete from T where part = '${r.partition}'"
    )((t, r) => t.without(isIn(r.partition))),
    statement("TRUNCATE", OfTable)(_ => "truncate table T")((t, _) => t.without(all)),
    statement("UPDATE", OfRecord, "id", "label")(r =>
      s"update T set label = ${50 + r.number} where id = ${r.id}"
    )((t, r) => t.setting("label", 50 + r.number)(is(r.id))),
    statement("UPDATE of many values", OfRecord, "id", "n")(r =>
      s"update T set n = ${60 + r.number} where id = ${r.id}"
    )((t, r) => t.setting("n", 60L + r.number)(is(r.id))),
    statement("UPDATE of a partition column", OfRecord, "id", "part")(r =>
      s"update T set part = 'c' where id = ${r.id}"
    )((t, r) =>
      t.without(is(r.id)).adding(t.records.filter(is(r.id)).map(_ + ("part" -> "c")): _*)
    ),
    statement("MERGE", OfRecord, every: _*)(r =>
      s"merge into T t using (select explode(array(${r.id}L, ${150 + r.number}L)) id) s" +
        s" on t.id = s.id when matched then update set label = ${70 + r.number}" +
        s" when not matched then insert ($listed) values (${values(150 + r.number)}, 'a')"
    )((t, r) => t.setting("label", 70 + r.number)(is(r.id)).adding(made(150 + r.number, "a")))
      .copy(anew = Some { (t, r) =>
        val added = made(150 + r.number, "a")
        if (t.records.exists(is(r.id)))
          t.setting("label", 70 + r.number)(is(r.id)).adding(added)
        else t.adding(added, added) // Neither record of the source is matched.
      }),
    PairedOperation(
      "Columns.update",
      OfRecord,
      _ => Set("label"),
      (t, r) => {
        val values = t.session.sql(s"select ${r.id}L _index, ${90 + r.number} label")
        t.columns.update(values, "label")
        ()
      },
      (t, r) => t.setting("label", 90 + r.number)(is(r.id))
    )
  )

  private val alterations = Seq(
    PairedOperation(
      "Columns.add",
      OfTable,
      _ => Set.empty,
      (t, r) => {
        t.columns.add(t.session.sql(s"select 3L _index, 80 c${r.number}"), s"c${r.number}")
        ()
      },
      (t, r) => t.addingColumn(s"c${r.number}", "int").setting(s"c${r.number}", 80)(is(3))
    ),
    statement("ADD COLUMN", OfTable)(r => s"alter table T add column a${r.number} int")((t, r) =>
      t.addingColumn(s"a${r.number}", "int")
    ),
    statement("DROP COLUMN", OfTable)(r => s"alter table T drop column x${r.number}")((t, r) =>
      t.dropping(s"x${r.number}")
    ).copy(needs = r => Set(s"x${r.number}")),
    statement("DROP COLUMN label", OfTable, "label")(_ => "alter table T drop column label")(
      (t, _) => t.dropping("label")
    ),
    statement("RENAME COLUMN", OfTable)(r =>
      s"alter table T rename column y${r.number} to z${r.number}"
    )((t, r) => t.changingColumn(s"y${r.number}")(_.copy(name = s"z${r.number}")))
      .copy(needs = r => Set(s"y${r.number}")),
    statement("RENAME COLUMN label", OfTable, "label")(r =>
      s"alter table T rename column label to label${r.number}"
    )((t, r) => t.changingColumn("label")(_.copy(name = s"label${r.number}"))),
    statement("ALTER COLUMN label TYPE", OfTable, "label")(_ =>
      "alter table T alter column label type bigint"
    )((t, _) => t.changingColumn("label")(_.copy(dataType = "bigint"))),
    statement("ALTER COLUMN id DROP NOT NULL", OfTable, "id")(_ =>
      "alter table T alter column id drop not null"
    )((t, _) => t.copy(required = t.required - "id")),
    statement("SET TBLPROPERTIES", OfTable)(r =>
      s"alter table T set tblproperties ('p${r.number}' = 'v')"
    )((t, r) => t.copy(properties = t.properties + (s"p${r.number}" -> "v"))),
    statement("ADD CONSTRAINT", OfTable, "id")(r =>
      s"alter table T add constraint k${r.number} check (id < 1000)"
    )((t, r) => t.copy(checks = t.checks + s"k${r.number}")).copy(since = "4.1")
  )

  private val care = Seq(
    PairedOperation(
      "rebalance",
      OfTable,
      _ => Set.empty,
      (t, _) => {
        val run = Rebalance.of(t.session, t.path).concurrency(1)
        val result = run.options(RebalanceOptions.defaults().withAllShards()).run()
        if (!result.failures().isEmpty) throw new NotRebalanced(result.failures().toString)
      },
      (t, _) => t
    ),
    PairedOperation(
      "relayout",
      OfTable,
      _ => Set("id"),
      (t, _) => {
        val order = RecordOrder.by("id", Direction.DESCENDING)
        Relayout.of(t.session, t.path, order).concurrency(1).run()
        ()
      },
      (t, _) => t.copy(records = t.records.sortBy(record => -record("id").asInstanceOf[Long]))
    ),
    PairedOperation(
      "tag",
      OfTable,
      _ => Set.empty,
      (t, r) => t.call("tag", s", 'tag${r.number}', ${t.base}")(_.tag(t.base, s"tag${r.number}")),
      (t, r) => t.copy(tags = t.tags + s"tag${r.number}")
    ),
    PairedOperation(
      "tag of an old version",
      OfTable,
      _ => Set.empty,
      (t, r) =>
        t.call("tag", s", 'tag${r.number}', $EarlierVersion")(
          _.tag(EarlierVersion, s"tag${r.number}")
        ),
      (t, r) => t.copy(tags = t.tags + s"tag${r.number}")
    ),
    PairedOperation(
      "expire",
      OfTable,
      _ => Set.empty,
      (t, _) => t.call("expire", "")(_.expire(ExpireOptions.defaults().withMode(CareMode.DELETE))),
      (t, _) => t.copy(isExpired = true)
    ),
    PairedOperation(
      "sweep",
      OfTable,
      _ => Set.empty,
      (t, _) =>
        t.call("sweep", ", dry_run => false")(
          _.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan => ())
        ),
      (t, _) => t.copy(hasOrphan = false)
    ),
    PairedOperation(
      "rollback_to",
      OfTable,
      _ => Set.empty,
      (t, _) => t.call("rollback_to", s", $EarlierVersion")(_.rollBack(EarlierVersion)),
      (t, _) => earlier.copy(tags = t.tags, isExpired = t.isExpired, hasOrphan = t.hasOrphan)
    ),
    statement("DROP", OfTable)(_ => "drop table T")((_, _) => ListedTable.Absent)
  )

  /** The operations in the order of the page. */
  val All: Seq[PairedOperation] = writes ++ changes ++ alterations ++ care

  /** What an operation is of that commits second. */
  val Second: Role = Role(3, "a", 0)
}
