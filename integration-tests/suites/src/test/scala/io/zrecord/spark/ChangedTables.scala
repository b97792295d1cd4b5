package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import io.zrecord.rebalance.order.RecordOrder
import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import org.apache.spark.sql.{DataFrame, Row}

/** Tables whose statements are done to a list as well, which then has what each version changed. */
trait ChangedTables extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  protected def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def release: Seq[Int] = spark.version.split('.').take(2).map(_.toInt).toSeq

  /** Tells whether this Spark has `CHANGES`. */
  protected def hasChanges: Boolean = release match {
    case Seq(major, minor) => major > 4 || major == 4 && minor >= 2
  }

  /** Tells whether a name in SQL takes options. */
  protected def hasOptionsInSql: Boolean = release.head >= 4

  /** A row of changes: its type, its version, and a record. */
  protected type Change = (String, Long, Rec)

  protected case class Rec(id: Long, part: Int, label: Int, text: String)

  protected val columns = Seq("_change_type", "_commit_version", "id", "part", "label", "text")

  protected def change(row: Row): Change =
    (
      row.getString(0),
      row.getLong(1),
      Rec(row.getLong(2), row.getInt(3), row.getInt(4), row.getString(5))
    )

  protected def changes(frame: DataFrame): Seq[Change] =
    frame.selectExpr(columns: _*).collect().toSeq.map(change)

  /** Returns the records after changes. Fails if a record before is not as it is told. */
  protected def applied(before: Map[Long, Rec], rows: Seq[Change]): Map[Long, Rec] = {
    var records = before
    for ((_, ofVersion) <- rows.groupBy(_._2).toSeq.sortBy(_._1)) {
      val (gone, come) = ofVersion.partition(row => Set("delete", "update_preimage")(row._1))
      for ((kind, version, rec) <- gone) {
        assert(records.get(rec.id).contains(rec), s"$kind of version $version")
        records -= rec.id
      }
      for ((kind, version, rec) <- come) {
        assert(!records.contains(rec.id), s"$kind of version $version")
        records += rec.id -> rec
      }
      assert(
        gone.filter(_._1 == "update_preimage").map(_._3.id).sorted ==
          come.filter(_._1 == "update_postimage").map(_._3.id).sorted
      )
    }
    records
  }

  protected class ChangedTable(random: Random, isPartitioned: Boolean = false) {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"

    /** The records of each version. */
    val versions = ArrayBuffer(Map.empty[Long, Rec])

    /** What each version changed. */
    val told = ArrayBuffer(Seq.empty[Change])

    private var next = 0L
    private var step = 0

    sql(
      s"create table $name (id bigint, part int, label int, text string) using zrecord" +
        (if (isPartitioned) " partitioned by (part)" else "")
    )

    def last: Long = tableAt(path).latest().version()

    private def did(after: Map[Long, Rec], rows: Seq[(String, Rec)]): Unit = {
      val version = last
      while (versions.size < version) {
        versions += versions.last
        told += Nil
      }
      if (versions.size == version) {
        versions += after
        told += rows.map { case (kind, rec) => (kind, version, rec) }
      } else assert(rows.isEmpty, "a statement changed records and made no version")
    }

    private def records: Map[Long, Rec] = versions.last

    /** Changes the records of which a condition holds. */
    private def updated(condition: Rec => Boolean)(change: Rec => Rec): Unit = {
      val changed = records.values.filter(condition).toSeq
      did(
        records ++ changed.map(rec => rec.id -> change(rec)),
        changed.flatMap(rec => Seq("update_preimage" -> rec, "update_postimage" -> change(rec)))
      )
    }

    def insert(count: Long): Unit = {
      sql(
        s"insert into $name select id, cast(id % 3 as int), 0, concat('t', id)" +
          s" from range($next, ${next + count}, 1, ${1 + random.nextInt(2)})"
      )
      val added = (next until next + count).map(id => Rec(id, (id % 3).toInt, 0, s"t$id"))
      next += count
      did(records ++ added.map(rec => rec.id -> rec), added.map("insert" -> _))
    }

    def update(k: Long, r: Long): Unit = {
      step += 1
      val text = s"u$step"
      sql(s"update $name set text = '$text' where id % $k = $r")
      updated(_.id % k == r)(_.copy(text = text))
    }

    /** Gives records another value of the partition column. */
    def move(k: Long, r: Long, part: Int): Unit = {
      step += 1
      val label = step
      sql(s"update $name set part = $part, label = $label where id % $k = $r")
      updated(_.id % k == r)(_.copy(part = part, label = label))
    }

    def delete(k: Long, r: Long): Unit = {
      sql(s"delete from $name where id % $k = $r")
      val (gone, kept) = records.partition(_._1 % k == r)
      did(kept, gone.values.toSeq.map("delete" -> _))
    }

    def merge(from: Long, count: Long): Unit = {
      step += 1
      val label = step
      sql(
        s"""merge into $name t using (select id from range($from, ${from + count})) c on t.id = c.id
           | when matched then update set label = $label
           | when not matched then insert (id, part, label, text) values (c.id, 1, $label, 'm')""".stripMargin
      )
      val ids = from until from + count
      val (there, absent) = ids.partition(records.contains)
      val added = absent.map(id => Rec(id, 1, label, "m"))
      next = math.max(next, from + count)
      did(
        records ++ there.map(id => id -> records(id).copy(label = label)) ++
          added.map(rec => rec.id -> rec),
        there.flatMap(id =>
          Seq(
            "update_preimage" -> records(id),
            "update_postimage" -> records(id).copy(label = label)
          )
        ) ++ added.map("insert" -> _)
      )
    }

    def overwrite(count: Long): Unit = {
      sql(
        s"insert overwrite $name select id, cast(id % 3 as int), 7, 'o'" +
          s" from range($next, ${next + count})"
      )
      val added = (next until next + count).map(id => Rec(id, (id % 3).toInt, 7, "o"))
      next += count
      did(
        added.map(rec => rec.id -> rec).toMap,
        records.values.toSeq.map("delete" -> _) ++ added.map("insert" -> _)
      )
    }

    def rebalance(): Unit = {
      val options = RebalanceOptions.defaults().withAllShards()
      TableRebalance.of(RebalancePlan.of(tableAt(path).latest(), options)).run()
      did(records, Nil)
    }

    def relayout(): Unit = {
      Relayout.of(spark, path, RecordOrder.shuffle(step.toLong)).run()
      did(records, Nil)
    }

    def tag(tag: String): Unit = {
      tableAt(path).tag(last, tag)
      did(records, Nil)
    }

    /** Does anything, along which net changes can be told, or not. */
    def any(isTold: Boolean): Unit = {
      val (k, r) = (2L + random.nextInt(5), random.nextInt(2).toLong)
      random.nextInt(if (isTold) 11 else 13) match {
        case 0 | 1 => insert(1L + random.nextInt(15))
        case 2 | 3 => update(k, r)
        case 4 | 5 => move(k, r, random.nextInt(4))
        case 6 => delete(k + 4, r)
        case 7 => merge(math.max(0, next - random.nextInt(8)), 1L + random.nextInt(10))
        case 8 | 9 => rebalance()
        case 10 => tag(s"tag-$last")
        case 11 => if (isPartitioned || records.isEmpty) rebalance() else relayout()
        case 12 => overwrite(1L + random.nextInt(10))
      }
    }

    /** Returns what the versions of a range changed. */
    def toldBetween(from: Long, to: Long): Seq[Change] =
      told.slice(from.toInt, to.toInt + 1).toSeq.flatten

    /** Returns what a range changed together. A record that moved, or that was deleted and came
      * back by its id, is another one.
      */
    def netBetween(from: Long, to: Long): Seq[Change] = {
      val (before, after) = (versions((from - 1).toInt), versions(to.toInt))
      val between = toldBetween(from, to)
      val touched = between.filter(_._1 == "update_postimage").map(_._3.id).toSet
      val moved = between
        .groupBy(row => (row._2, row._3.id))
        .values
        .filter(rows => isPartitioned && rows.map(_._3.part).distinct.size > 1)
        .map(_.head._3.id)
        .toSet
      val others = moved ++ between.filter(_._1 == "delete").map(_._3.id)
      val gone = (before.keySet -- after.keySet) ++ others.filter(before.contains)
      val come = (after.keySet -- before.keySet) ++ others.filter(after.contains)
      val changed = (touched -- gone -- come).filter(before.contains)
      (gone.toSeq.map(id => ("delete", to, before(id))) ++
        come.toSeq.map(id => ("insert", to, after(id))) ++
        changed.toSeq.flatMap(id =>
          Seq(("update_preimage", to, before(id)), ("update_postimage", to, after(id)))
        ))
    }
  }
}
