package io.zrecord.spark

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.Random

import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.RecordTable
import io.zrecord.testing.Budget
import org.apache.spark.sql.Row

/** Random statements, streams and care against a list of rows: equal after each, and at every
  * version that is kept in the end.
  */
class RowModelSuite extends StreamTables with ExpiredVersions {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  /** A row by the names of its columns. */
  private type Record = Map[String, Any]

  /** What a table is at a version. */
  private case class State(
      columns: Vector[String],
      defaults: Map[String, Any],
      records: Vector[Record]
  )

  private class Model(random: Random) {
    private val table = freshTable()
    private val name = s"lake.$table"
    private val path = s"$warehouse/$table"
    private var columns = Vector("id", "label", "text", "tensor")
    private var records = Vector.empty[Record]
    private var defaults = Map.empty[String, Any]
    private var nextId = 0L
    private var added = Set.empty[Long]
    private val history = mutable.Map.empty[Long, State]
    private val tags = mutable.Map.empty[String, Long]

    private def engine: RecordTable = RecordTable.at(SparkStorages.storageFor(path))

    private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

    private val compression = random.shuffle(Seq("raw", "zstd", "lz4")).head
    sql(
      s"create table $name (id bigint not null, label int, text string, tensor array<float>)" +
        s" using zrecord options ('compression' '$compression')"
    )

    private def rows(selection: String = name, of: Vector[String] = columns): Vector[Record] =
      sql(s"select ${of.mkString(", ")} from $selection order by _index").map { row =>
        of.zipWithIndex.map { case (column, i) =>
          column -> (row.get(i) match {
            case values: scala.collection.Seq[_] => values.toVector
            case value => value
          })
        }.toMap
      }.toVector

    private def check(step: String): Unit = {
      val found = rows()
      // New records of a MERGE follow all others, in any order.
      val kept = step match {
        case merge if merge.startsWith("merge") => records.takeWhile(row => !added(id(row))).size
        case "relayout" => 0
        case _ => records.size
      }
      assert(found.take(kept) == records.take(kept), step)
      assert(found.toSet == records.toSet && found.size == records.size, step)
      records = found
      assert(spark.table(name).count() == records.size, step)
      history(engine.latest().version()) = State(columns, defaults, records)
    }

    def checkHistory(): Unit = {
      for ((version, state) <- history)
        assert(
          rows(s"$name version as of $version", state.columns) == state.records,
          s"version $version"
        )
      for ((tag, version) <- tags) {
        val state = history(version)
        assert(rows(s"$name version as of '$tag'", state.columns) == state.records, tag)
      }
    }

    private def record(id: Long): Record =
      Map[String, Any](
        "id" -> id,
        "label" -> (id % 7).toInt,
        "text" -> (if (id % 5 == 0) null else s"text $id"),
        "tensor" -> (if (id % 3 == 0) null else Vector(id.toFloat, 0.5f))
      )

    private val first =
      "id, cast(id % 7 as int) label, if(id % 5 = 0, null, concat('text ', id)) text," +
        " if(id % 3 = 0, null, array(cast(id as float), 0.5F)) tensor"

    /** The values of columns that were added, for a new row: Spark 3.5 leaves no column out. */
    private def others: String = columns.drop(4).map(column => s", ${defaults(column)}").mkString

    /** Columns that were added have their defaults. */
    private def complete(record: Record): Record = defaults ++ record

    private def update(matches: Record => Boolean)(change: Record => Record): Unit =
      records = records.map(row => if (matches(row)) row ++ change(row) else row)

    private def id(row: Record): Long = row("id").asInstanceOf[Long]

    private def label(row: Record): Integer = row("label").asInstanceOf[Integer]

    private def text(row: Record): String = row("text").asInstanceOf[String]

    def next(): Unit = if (random.nextInt(3) == 0 && history.nonEmpty) care() else step()

    private def step(): Unit = {
      val (k, r) = (2 + random.nextInt(9), random.nextInt(3))
      val n = random.nextInt(100)
      val statement = random.nextInt(14) match {
        case 0 | 1 | 2 =>
          val count = 1 + random.nextInt(60)
          val ids = nextId until nextId + count
          records ++= ids.map(id => complete(record(id)))
          nextId += count
          s"insert into $name select /*+ coalesce(1) */ $first$others from" +
            s" range(${ids.head}, ${ids.last + 1}, 1, 1)"
        case 3 =>
          records = records.filterNot(row => id(row) % k == r)
          s"delete from $name where id % $k = $r"
        case 4 =>
          records = records.zipWithIndex.filterNot(_._2 % 50 == n).map(_._1)
          s"delete from $name where _index % 50 = $n"
        case 5 =>
          records = records.take(n) ++ records.drop(n + 3)
          s"delete from $name where _index between $n and ${n + 2}"
        case 6 =>
          update(row => id(row) % k == r)(row =>
            Map("label" -> Option(label(row)).map(l => (l + 1): Integer).orNull)
          )
          s"update $name set label = label + 1 where id % $k = $r"
        case 7 =>
          update(row => text(row) == null || id(row) % k == r)(row =>
            Map(
              "text" -> (if (text(row) == null) s"was null $n" else null),
              "label" -> (n: Integer)
            )
          )
          s"update $name set text = if(text is null, 'was null $n', null), label = $n" +
            s" where text is null or id % $k = $r"
        case 8 =>
          update(row => id(row) % k == r)(row =>
            Map("tensor" -> Vector(n.toFloat, id(row).toFloat, 1f))
          )
          s"update $name set tensor = array(cast($n as float), cast(id as float), 1F) where id % $k = $r"
        case 9 =>
          val most = records.map(label).filter(_ != null).map(_.intValue).maxOption
          update(row => id(row) % 20 == n % 20)(_ =>
            Map("label" -> most.map(m => m: Integer).orNull)
          )
          s"update $name set label = (select max(label) from $name) where id % 20 = ${n % 20}"
        case 10 =>
          val known = records.map(id).toSet
          val changes = (n.toLong until nextId + 5 by k.toLong).toSet
          added = changes -- known
          val end = math.max(n, nextId + 5)
          records = records.filterNot(row => changes(id(row)) && id(row) % 4 == 0)
          update(row => changes(id(row)))(row => Map("label" -> -1, "text" -> s"merged ${id(row)}"))
          records ++= added.toVector.sorted.map(id => complete(record(id) + ("label" -> -2)))
          nextId = end
          s"""merge into $name t using (select /*+ coalesce(1) */ $first
             |   from range($n, $end, $k, 1)) c on t.id = c.id
             | when matched and c.id % 4 = 0 then delete
             | when matched then update set label = -1, text = concat('merged ', c.id)
             | when not matched then insert (${columns.mkString(", ")})
             |   values (c.id, -2, c.text, c.tensor$others)""".stripMargin
        case 11 =>
          val column = s"added_$nextId" + columns.size
          columns :+= column
          defaults += column -> n
          records = records.map(_ + (column -> n))
          s"alter table $name add column $column int default $n"
        case 12 =>
          val added = columns.drop(4)
          if (added.isEmpty) "select 1"
          else {
            val (old, renamed) = (added.head, s"renamed_$nextId" + n)
            if (added.size > 2) {
              columns = columns.filter(_ != old)
              defaults -= old
              records = records.map(_ - old)
              s"alter table $name drop column $old"
            } else {
              columns = columns.map(column => if (column == old) renamed else column)
              defaults = (defaults - old) + (renamed -> defaults(old))
              records = records.map(row => (row - old) + (renamed -> row(old)))
              s"alter table $name rename column $old to $renamed"
            }
          }
        case 13 =>
          val ids = nextId until nextId + n
          records = ids.map(id => complete(record(id))).toVector
          nextId += n
          s"insert overwrite $name select /*+ coalesce(1) */ $first$others from" +
            s" range(${ids.start}, ${ids.end}, 1, 1)"
      }
      sql(statement)
      check(statement)
    }

    private def call(procedure: String, arguments: (String, Any)*): Unit =
      arguments
        .foldLeft(Call.of(spark, procedure).set("table", path)) { case (made, (key, value)) =>
          made.set(key, value)
        }
        .run()

    /** Appends rows, and returns the query of them. */
    private def appended(): String = {
      val ids = nextId until nextId + 1 + random.nextInt(40)
      records ++= ids.map(id => complete(record(id)))
      nextId = ids.end
      s"select /*+ coalesce(1) */ $first$others from range(${ids.start}, ${ids.end}, 1, 1)"
    }

    /** Does what is no statement of SQL, or is done beside one. */
    private def care(): Unit = {
      val what = random.nextInt(8) match {
        case 0 | 1 =>
          if (records.nonEmpty) call("rebalance")
          "rebalance"
        case 2 =>
          if (records.nonEmpty) call("relayout", "shuffle_seed" -> random.nextLong())
          "relayout"
        case 3 =>
          val tag = s"tag_${tags.size}"
          val version = history.keys.toVector.sorted.apply(random.nextInt(history.size))
          call("tag", "name" -> tag, "version" -> version)
          tags(tag) = version
          "tag"
        case 4 =>
          val versions = history.keys.toVector.sorted
          val first = versions(random.nextInt(versions.size))
          expireTo(path, first)
          val kept = engine.versions().asScala.map(_.longValue).toSet
          assert(tags.values.forall(kept), s"tags after an expiry to $first")
          assert(versions.filter(_ >= first).forall(kept), s"versions after an expiry to $first")
          history.keys.toVector.filterNot(kept).foreach(version => history.remove(version))
          "expire"
        case 5 =>
          val version = history.keys.toVector.sorted.apply(random.nextInt(history.size))
          call("rollback_to", "version" -> version)
          val state = history(version)
          columns = state.columns
          defaults = state.defaults
          records = state.records
          "rollback_to"
        case 6 =>
          val source = freshPath()
          val query = appended()
          write(spark.sql(query).toDF(columns: _*), source, "append")
          val stream = spark.readStream.format("zrecord").load(source)
          run(writer(stream, freshDirectory()).toTable(name))
          "a stream"
        case 7 =>
          val statement = s"insert into $name ${appended()}"
          val rebalance = Future(call("rebalance", "all_shards" -> true))
          sql(statement)
          Await.result(rebalance, 5.minutes)
          "an insert beside a rebalance"
      }
      check(what)
    }
  }

  test("random statements give what a list gives") {
    val seed = Budget.seed
    for (round <- 1 to Budget.of(25)) {
      val model = new Model(new Random(seed + round))
      withClue(s"round $round: ") {
        for (_ <- 1 to 20) model.next()
        model.checkHistory()
      }
    }
  }
}
