package io.zrecord.spark

import java.util.concurrent.atomic.AtomicReference

import io.zrecord.read.IndexSet
import io.zrecord.table.RowChange
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.{expr, udf}

/** Overwrites of the records for which any condition is true, in one commit. */
class ReplacedRecordsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private case class Target(name: String, path: String) {
    def rows(condition: String = "true"): Seq[Row] =
      sql(s"select id, a, b, s.x from $name where $condition order by _index")
    def version: Long = tableAt(path).latest().version()
  }

  private val columns = "(id bigint not null, a string, b int, s struct<x: int>)"

  /** Makes a table of three shards, or of a shard a partition and file. */
  private def created(place: String, partitioned: String = ""): Target = {
    val table = freshTable()
    val path = s"$warehouse/$table"
    val name = place match {
      case "a name" => s"lake.$table"
      case "a path" => s"zrecord.`$path`"
      case _ => table
    }
    val location = if (place == "a session table") s"location '$path'" else ""
    sql(s"create table $name $columns using zrecord $partitioned $location")
    for (part <- 0 until 3)
      sql(s"""insert into $name select /*+ coalesce(1) */ id, concat('k', id % 3), if(id % 5 = 0, null,
             |  cast(id as int)), named_struct('x', cast(id as int)) from
             |  range(${part * 20}, ${part * 20 + 20}, 1, 1)""".stripMargin)
    Target(name, path)
  }

  private val news = "select id, 'new' a, cast(-id as int) b, named_struct('x', 1) s from" +
    " range(100, 105, 1, 1)"

  private val conditions = Seq(
    "b > 30",
    "b is null",
    "a = 'k1' and b = 1",
    "a = 'k1' or b = 2",
    "s.x < 7",
    "a = concat('k', b % 3)",
    "id % 2 = 1",
    "length(a) + b > 20",
    "b = 1000",
    "id >= 0"
  )

  for {
    place <- Seq("a name", "a path", "a session table")
    partitioned <- Seq("", "partitioned by (a)")
  } test(s"rows replace records of $place $partitioned, in one commit, in order") {
    for (condition <- chosen(conditions)) {
      val t = created(place, partitioned)
      val kept = t.rows(s"not coalesce($condition, false)")
      val old = t.rows()
      val before = t.version
      if (condition.hashCode % 2 == 0)
        sql(s"insert into ${t.name} replace where $condition $news")
      else spark.sql(news).writeTo(t.name).overwrite(expr(condition))
      val added = sql(news).map(r => Row(r(0), r(1), r(2), r.getStruct(3)(0)))
      assert(t.rows() == kept ++ added, condition)
      assert(t.version == before + 1, condition)
      assert(sql(s"select count(*) from ${t.name}") == Seq(Row(kept.size + 5)))
      assert(
        sql(s"select id, a, b, s.x from ${t.name} version as of $before order by _index") == old
      )
    }
  }

  test("a condition of partitions is decided without a task, and others beside are not") {
    val t = created("a name", "partitioned by (a)")
    sql(s"insert into ${t.name} replace where a = 'k1' and id >= 30 $news")
    assert(t.rows("a = 'k1'").map(_.getLong(0)) == (0L until 30L).filter(_ % 3 == 1))
    val before = tableAt(t.path).latest()
    val plan = spark
      .sql(s"explain insert into ${t.name} replace where a = 'k0' $news")
      .head()
      .getString(0)
    assert(plan.contains("OverwriteByExpression") && !plan.contains("WriteDelta"), plan)
    sql(s"insert into ${t.name} replace where a = 'k0' $news")
    assert(t.rows("a = 'k0'").isEmpty)
    assert(tableAt(t.path).latest().version() == before.version() + 1)
  }

  test("Spark refuses a subquery in the condition, and a condition of metadata columns") {
    val t = created("a name")
    val before = t.version
    for (condition <- Seq("b in (select 1)", "_index < 3"))
      failure(sql(s"insert into ${t.name} replace where $condition $news"))
    assert(t.version == before && t.rows().size == 60)
  }

  test("rows come in the order of the query, from several tasks to several") {
    for (adaptive <- Seq("true", "false")) {
      val t = created("a name")
      spark.conf.set("spark.sql.adaptive.enabled", adaptive)
      try
        spark
          .range(0, 900, 1, 3)
          .selectExpr("1000 + id id", "'x' a", "cast(1 - id as int) b", "named_struct('x', 1) s")
          .writeTo(t.name)
          .overwrite(expr("b >= 0 or b is null"))
      finally spark.conf.unset("spark.sql.adaptive.enabled")
      val added = t.rows().map(_.getLong(0))
      assert(added.sorted == (1000L until 1900L))
      // Each task of the query made a run of its own.
      val runs = added.sliding(2).count { case Seq(a, b) => b != a + 1 }
      assert(runs <= 2, added)
    }
  }

  test("a NULL that stands for a condition is of no record") {
    val t = created("a name")
    sql(s"insert into ${t.name} replace where b = null $news")
    sql(s"insert into ${t.name} replace where b > 3 and null $news")
    sql(s"insert into ${t.name} replace where false $news")
    assert(t.rows().size == 75)
  }

  test("an older version may be read, and undoes a change") {
    val t = created("a name")
    val before = (t.rows().sortBy(_.getLong(0)), t.version)
    sql(s"update ${t.name} set b = -1 where id < 10")
    sql(
      s"insert into ${t.name} replace where b = -1 select * from ${t.name} version as of ${before._2} where id < 10"
    )
    assert(t.rows().sortBy(_.getLong(0)) == before._1)
  }

  test("several in one statement are refused before one is done") {
    val t = created("a name")
    val version = t.version
    val message = failure(
      sql(
        s"from (select * from ${t.name}) s insert into ${t.name} replace where b = 1 select * where id = 1" +
          s" insert into ${t.name} replace where b = 2 select * where id = 2"
      )
    )
    assert(message.contains("a statement for each") || message.contains("REPLACE"), message)
    assert(t.version == version)
  }

  test("a query may read the table that it writes") {
    val t = created("a name")
    sql(
      s"insert into ${t.name} replace where b > 10 select id + 1000, a, b, s from ${t.name} where b > 50"
    )
    assert(t.rows("id < 1000").forall(r => r.isNullAt(2) || r.getInt(2) <= 10))
    assert(t.rows("id >= 1000").map(_.getLong(0)) == (1051L to 1059L).filter(_ % 5 != 0))
  }

  test("columns are found by name and by position, and get their defaults") {
    val t = created("a name")
    spark
      .sql("select 7 b, named_struct('x', 3) s, 'z' a, 900L id")
      .writeTo(t.name)
      .overwrite(
        expr("b > 3")
      )
    assert(t.rows("id = 900") == Seq(Row(900L, "z", 7, 3)))
    sql(s"insert into ${t.name} replace where id = 900 values (901, 'y', 8, named_struct('x', 4))")
    assert(t.rows("id >= 900") == Seq(Row(901L, "y", 8, 4)))
    assert(t.rows("b > 3").size == 1)
  }

  test("a NULL for a column that is NOT NULL is refused, and nothing is changed") {
    val t = created("a name")
    val before = t.version
    val message = failure(
      sql(s"insert into ${t.name} replace where b > 3 select cast(null as bigint), 'a', 1, null")
    )
    assert(message.contains("id"), message)
    assert(t.version == before && t.rows().size == 60)
  }

  test("a constraint is checked on the new rows alone") {
    assume(spark.version >= "4.1", "Spark has CHECK from 4.1 on")
    val t = created("a name")
    sql(s"alter table ${t.name} add constraint small check (b < 60)")
    val before = t.version
    val message = failure(
      sql(s"insert into ${t.name} replace where b > 3 select 1L, 'a', 61, named_struct('x', 1)")
    )
    assert(message.contains("small"), message)
    assert(t.version == before)
    sql(s"insert into ${t.name} replace where b > 3 select 1L, 'a', 59, named_struct('x', 1)")
    assert(t.rows("b > 3").size == 1)
  }

  test("records that are replaced get new numbers of an identity, and others keep theirs") {
    assume(spark.version >= "4.1", "Spark 4.0 leaves no column out of a frame")
    val table = freshTable()
    sql(s"create table lake.$table (n bigint generated always as identity, v int)")
    sql(s"insert into lake.$table (v) select cast(id as int) from range(0, 10, 1, 1)")
    spark.sql("select 100 v").writeTo(s"lake.$table").overwrite(expr("v >= 5"))
    val rows = sql(s"select n, v from lake.$table order by _index")
    assert(rows.init == (0 until 5).map(i => Row(i + 1L, i)))
    assert(rows.last.getInt(1) == 100 && rows.last.getLong(0) > 10)
  }

  test("the options of the write are obeyed or refused") {
    val t = created("a name")
    def write(options: (String, String)*) = options
      .foldLeft(spark.sql(news).writeTo(t.name)) { case (w, (k, v)) => w.option(k, v) }
      .overwrite(expr("b > 3"))
    write("txnAppId" -> "job", "txnVersion" -> "5")
    val after = t.version
    write("txnAppId" -> "job", "txnVersion" -> "5")
    assert(t.version == after)
    assert(failure(write("expectedVersion" -> "1")).contains("1"))
    assert(failure(write("noSuchOption" -> "1")).contains("noSuchOption"))
    assert(t.version == after)
  }

  test("values of columns that the condition does not name are not read") {
    val table = freshTable()
    val name = s"lake.$table"
    sql(s"create table $name (id bigint, image binary)")
    sql(s"insert into $name select id, cast(repeat('Z', 65536) as binary) from range(20)")
    val files = filesOf(s"$warehouse/$table")
    for (chunk <- files.names.filter(_.endsWith(".zr")))
      files.change(chunk) { bytes =>
        for (i <- 1 until bytes.length - 1 if bytes(i) == 'Z' && bytes(i - 1) == 'Z')
          bytes(i) = 'Y'
        bytes
      }
    assert(failure(sql(s"select sum(length(image)), max(hash(image)) from $name")) != null)
    sql(s"insert into $name replace where id > 2 select 100L, cast('new' as binary)")
    assert(sql(s"select id from $name order by _index").map(_.getLong(0)) == Seq(0L, 1, 2, 100))
  }

  test("a change of a replaced record beside the statement is a conflict") {
    val t = created("a name")
    val table = tableAt(t.path) // A task may use it.
    val slow = udf { (id: Long) =>
      ReplacedRecordsSuite.between.getAndSet(None).foreach(_())
      id
    }
    ReplacedRecordsSuite.between.set(Some { () =>
      val change = RowChange.of(table.latest())
      change.delete(IndexSet.of(59))
      change.commit()
    })
    val rows = spark.sql(news).withColumn("id", slow(expr("id")))
    val message = failure(rows.writeTo(t.name).overwrite(expr("b > 3")))
    assert(message.contains("ZRECORD_COMMIT_CONFLICT"), message)
    assert(t.rows().size == 59 && t.rows("a = 'new'").isEmpty)
  }
}

object ReplacedRecordsSuite {
  private val between =
    new AtomicReference[Option[() => Unit]](None)
}
