package io.zrecord.spark

import scala.util.Random

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.RecordTable
import io.zrecord.testing.Budget
import org.apache.spark.sql.Row

/** Random statements against a list of rows: equal after each, and at every version in the end. */
class RowModelSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  /** A row by the names of its columns. */
  private type Record = Map[String, Any]

  private class Model(random: Random) {
    private val table = freshTable()
    private val name = s"lake.$table"
    private val path = s"$warehouse/$table"
    private var columns = Vector("id", "label", "text", "tensor")
    private var records = Vector.empty[Record]
    private var defaults = Map.empty[String, Any]
    private var nextId = 0L
    private var added = Set.empty[Long]
    private val history = scala.collection.mutable.Map.empty[Long, (Vector[String], Vector[Record])]

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
      if (step.startsWith("merge")) {
        // New records follow all others, in any order.
        val kept = records.takeWhile(row => !added(id(row)))
        assert(found.take(kept.size) == kept, step)
        assert(found.toSet == records.toSet && found.size == records.size, step)
        records = found
      }
      assert(found == records, step)
      assert(spark.table(name).count() == records.size, step)
      history(engine.latest().version()) = (columns, records)
    }

    def checkHistory(): Unit =
      for ((version, (of, expected)) <- history)
        assert(rows(s"$name version as of $version", of) == expected, s"version $version")

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

    def step(): Unit = {
      val (k, r) = (2 + random.nextInt(9), random.nextInt(3))
      val n = random.nextInt(100)
      val statement = random.nextInt(13) match {
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
        case 12 => "rebalance"
      }
      if (statement == "rebalance") {
        if (records.nonEmpty)
          Rebalance.of(spark, path).options(RebalanceOptions.defaults()).run()
      } else sql(statement)
      check(statement)
    }
  }

  test("random statements give what a list gives") {
    val seed = Budget.seed
    for (round <- 1 to Budget.of(25)) {
      val model = new Model(new Random(seed + round))
      withClue(s"round $round: ") {
        for (_ <- 1 to 20) model.step()
        model.checkHistory()
      }
    }
  }
}
