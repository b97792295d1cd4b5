package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.schema.{Compression, Constraint, ElementType, FieldSpec, RecordSchema, Shape}
import io.zrecord.shard.WriteOptions
import io.zrecord.table.{DeclarationChange, RecordTable}
import io.zrecord.testing.Budget
import io.zrecord.{RecordDatasetWriter => EngineWriter}
import org.apache.spark.sql.functions.{col, lit, udf}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}

/** Every way to write a table that has checks obeys them, or is refused: on all Sparks. */
class CheckedWritesSuite extends SessionTablesSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = super.configuration ++ Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private case class Target(name: String, path: String)

  private val Fields = new RecordSchema(
    Seq(
      new FieldSpec(1, "id", ElementType.I64, Shape.scalar(), Compression.RAW),
      new FieldSpec(2, "label", ElementType.I32, Shape.scalar(), Compression.RAW),
      new FieldSpec(3, "text", ElementType.UTF8, Shape.scalar(), Compression.parse("zstd:3"))
    ).asJava
  )

  /** Makes a table of an empty version and a check, as a program without Spark does. */
  private def made(path: String, checks: Constraint*): String = {
    val writer = EngineWriter.create(filesOf(path).storage, Fields, WriteOptions.defaults())
    try writer.commit()
    finally writer.close()
    val change = DeclarationChange.of(tableAt(path).latest())
    checks.foreach(check => change.add(check))
    change.commit()
    path
  }

  private val places: Seq[(String, Seq[Constraint] => Target)] = Seq(
    "path" -> { checks =>
      val path = made(freshPath(), checks: _*)
      Target(s"zrecord.`$path`", path)
    },
    "name" -> { checks =>
      val table = freshTable()
      Target(s"lake.$table", made(s"$warehouse/$table", checks: _*))
    },
    "session table" -> { checks =>
      val table = freshTable()
      val path = made(freshPath(), checks: _*)
      spark.sql(s"create table $table using zrecord location '$path'")
      Target(table, path)
    }
  )

  private def sql(statement: String)(target: Target, data: DataFrame): Unit = {
    data.createOrReplaceTempView("src")
    spark.sql(statement.replace("%t", target.name))
  }

  private case class Way(name: String, replaces: Boolean = false)(
      val write: (Target, DataFrame) => Unit
  )

  private val ways = Seq(
    Way("INSERT by position")(sql("insert into %t select id, label, text from src")),
    Way("INSERT with columns")(
      sql("insert into %t (text, label, id) select text, label, id from src")
    ),
    Way("INSERT BY NAME")(sql("insert into %t by name select text, label, id from src")),
    Way("INSERT OVERWRITE", true)(sql("insert overwrite %t select id, label, text from src")),
    Way("save append")((t, d) => write(d.select("text", "label", "id"), t.path, "append")),
    Way("save overwrite", true)((t, d) => write(d, t.path, "overwrite")),
    Way("insertInto")((t, d) => d.write.insertInto(t.name)),
    Way("saveAsTable append")((t, d) =>
      d.write.format("zrecord").mode("append").saveAsTable(t.name)
    ),
    Way("writeTo append")((t, d) => d.writeTo(t.name).append()),
    Way("writeTo overwrite", true)((t, d) => d.writeTo(t.name).overwrite(lit(true))),
    Way("writeTo overwritePartitions", true)((t, d) => d.writeTo(t.name).overwritePartitions())
  )

  private val Known = Constraint.check("known", "label >= 0", Seq(Integer.valueOf(2)).asJava)

  private def data(labels: Option[Int]*): DataFrame = {
    val rows = labels.zipWithIndex.map { case (label, i) =>
      Row(i.toLong, label.map(Integer.valueOf).orNull, s"t$i")
    }
    val schema = StructType.fromDDL("id bigint, label int, text string")
    spark.createDataFrame(rows.asJava, schema).repartition(2)
  }

  private def labels(target: Target): Seq[String] =
    read(target.path).select("label").collect().map(row => String.valueOf(row.get(0))).sorted.toSeq

  for (way <- ways; (where, make) <- chosen(places))
    test(s"${way.name} into a $where obeys a check, or is refused (seed ${Budget.seed})") {
      val target = make(Seq(Known))
      val good = data(Some(0), Some(7), None)
      if (!loadsAgain) {
        val refused = failure(way.write(target, good))
        assert(refused.contains("constraint 'known' CHECK (label >= 0) is enforced"), refused)
        assert(tableAt(target.path).latest().version() == 1)
      } else {
        way.write(target, good)
        assert(labels(target) == Seq("0", "7", "null"))
        val before = tableAt(target.path).latest().version()
        val bad = failure(way.write(target, data(Some(1), Some(-1))))
        assert(bad.contains("CHECK_CONSTRAINT_VIOLATION") && bad.contains("known"), bad)
        assert(tableAt(target.path).latest().version() == before)
        assert(labels(target) == Seq("0", "7", "null"))
        way.write(target, data(Some(3)))
        assert(labels(target) == (if (way.replaces) Seq("3") else Seq("0", "3", "7", "null")))
      }
      // What is not enforced is a remark.
      val free = make(Seq(Known.notEnforced()))
      way.write(free, data(Some(-5)))
      assert(labels(free) == Seq("-5"))
    }

  test("a table that is replaced has no checks any more") {
    for ((where, make) <- places) {
      val target = make(Seq(Known))
      spark.sql(
        s"create or replace table ${target.name} using zrecord as select 1L id, -1 label, 'a' text"
      )
      assert(labels(target) == Seq("-1"), where)
      assert(tableAt(target.path).latest().declarations().constraints().isEmpty, where)
    }
  }

  // A text of a manifest, and whether Spark would run it at each write if it were let.
  private val Forged = Seq(
    "java_method('java.lang.System', 'setProperty', 'zrecord.forged', 'x') is null",
    "reflect('java.lang.System', 'setProperty', 'zrecord.forged', 'x') is null",
    "identifier('java_method')('java.lang.System', 'setProperty', 'zrecord.forged', 'x') is null",
    "(select max(label) from src) >= 0",
    "label in (select label from src)",
    "exists (select 1)",
    "rand() >= 0",
    "label < unix_timestamp()",
    "current_date() > date'2020-01-01'",
    "current_user() != 'x'",
    "text != '\"); System.setProperty(\"zrecord.forged\", \"x\"); (\"'",
    "text != '\\042'",
    "text != '\\\\u0022'",
    "text != 'a\nb'",
    "label >= 0 -- or so",
    "missing >= 0",
    "t.label >= 0",
    "zrecord.default.length(text) > 0",
    "label >=",
    "label",
    "sum(label) > 0",
    "sum(label) over () > 0",
    "explode(array(label)) > 0",
    "exists(array(array(label)), x -> x[0] = 1)",
    ":label > 0"
  )

  test("a check that Spark must not evaluate leaves its table to be read, and refuses writes") {
    for (text <- Forged; (where, make) <- chosen(places)) {
      val target = make(Seq(Constraint.check("forged", text, List(Integer.valueOf(2)).asJava)))
      assert(spark.table(target.name).count() == 0, text)
      for (way <- ways.take(2)) {
        val refused = failure(way.write(target, data(Some(1))))
        val said =
          if (text == "label") Seq("forged", "CHECK") else Seq("constraint 'forged'", "is enforced")
        assert(said.forall(refused.contains(_)), s"$where $text: $refused")
      }
      assert(tableAt(target.path).latest().version() == 1, text)
    }
    assert(System.getProperty("zrecord.forged") == null)
    val named = Constraint.check("a\"b", "label > 0", List(Integer.valueOf(2)).asJava)
    val target = places.head._2(Seq(named))
    assert(failure(ways.head.write(target, data(Some(1)))).contains("is enforced"))
  }

  private val Allowed = Seq(
    "label between 0 and 10" -> "label not between 0 and 10",
    "text like 't%' and label is not null" -> "text like 'http://%'",
    "text rlike '^t\\\\d+$'" -> "text rlike '^\\\\d+$'",
    "text != 'it\\'s /* no */ comment // at all'" -> "text = 'it\\'s /* no */ comment // at all'",
    "case when label > 5 then id >= 0 else true end" -> "if(label > 5, id < 0, id < 0)",
    "length(trim(text)) > 0" -> "length(trim(text)) = 0",
    "`label` >= 0 and LABEL < 100" -> "`label` < 0",
    "forall(array(label, 1), x -> x >= 0)" -> "forall(array(label, -1), x -> x >= 0)",
    "array(label, id)[0] >= 0" -> "array(label, id)[0] < 0",
    "substring(text, 1, 1) = 't'" -> "substring(text, 1, 1) = 'u'",
    "extract(year from date'2020-01-01') = 2020" -> "extract(year from date'2020-01-01') = 2021",
    "cast(text as string) is not null" -> "cast(text as string) is null",
    "text in ('t0', 't1')" -> "text in ('a', 'b')",
    "text is distinct from null" -> "text is not distinct from null",
    "id % 2 = id & 1" -> "id % 2 != id & 1"
  )

  test("conditions of columns are evaluated, with generated code and without") {
    if (loadsAgain)
      for ((isTrue, isFalse) <- Allowed; interpreted <- Seq("CODEGEN_ONLY", "NO_CODEGEN")) {
        spark.conf.set("spark.sql.codegen.factoryMode", interpreted)
        spark.conf.set("spark.sql.codegen.wholeStage", (interpreted == "CODEGEN_ONLY").toString)
        try {
          val ids = List(1, 2, 3).map(Integer.valueOf).asJava
          val target = places.head._2(Seq(Constraint.check("c", isTrue, ids)))
          ways.head.write(target, data(Some(1), Some(7)))
          assert(labels(target) == Seq("1", "7"), isTrue)
          val other = places.head._2(Seq(Constraint.check("c", isFalse, ids)))
          val refused = failure(ways.head.write(other, data(Some(1), Some(7))))
          assert(refused.contains("CHECK_CONSTRAINT_VIOLATION"), s"$isFalse: $refused")
        } finally {
          spark.conf.unset("spark.sql.codegen.factoryMode")
          spark.conf.unset("spark.sql.codegen.wholeStage")
        }
      }
  }

  test("save takes only the columns of a table that has checks, of which it may leave some out") {
    if (loadsAgain) {
      val target = places.head._2(Seq(Known))
      write(data(Some(1)).select("label", "id"), target.path, "append")
      assert(read(target.path).where("text is null").count() == 1)
      val before = tableAt(target.path).latest().version()
      val more = data(Some(2)).withColumn("more", lit(1))
      for (
        (mode, option) <- Seq("append" -> "mergeSchema", "overwrite" -> "overwriteSchema");
        frame <- Seq(more, more.withColumn("label", lit("a text")))
      ) {
        failure(write(frame, target.path, mode, option -> "true"))
        assert(tableAt(target.path).latest().version() == before)
      }
      // A wider column is narrowed as an INSERT narrows it, and the check is of the result.
      write(
        data(Some(3)).selectExpr("id", "cast(label as bigint) label", "text"),
        target.path,
        "append"
      )
      assert(labels(target) == Seq("1", "3"))
    }
  }

  test("a check of the newest version holds for a session that reads an older version") {
    val target = places.head._2(Seq.empty)
    write(data(Some(1)), target.path, "append")
    DeclarationChange.of(tableAt(target.path).latest()).add(Known).commit()
    spark.conf.set("spark.datasource.zrecord.versionAsOf", "0")
    try {
      val refused = failure(ways.head.write(target, data(Some(-1))))
      assert(refused.contains("known"), refused)
      if (loadsAgain) ways.head.write(target, data(Some(2)))
    } finally spark.conf.unset("spark.datasource.zrecord.versionAsOf")
    assert(labels(target) == (if (loadsAgain) Seq("1", "2") else Seq("1")))
  }

  test("a check that comes while a write runs is obeyed, or the write is refused") {
    val target = places.head._2(Seq.empty)
    val path = target.path
    CheckedWritesSuite.tables.put(path, tableAt(path))
    val declare = udf { id: Long =>
      CheckedWritesSuite.declareOnce(path)
      id
    }
    val declared = data(Some(-1), Some(2)).withColumn("id", declare(col("id")))
    val refused = failure(ways.head.write(target, declared))
    assert(refused.contains("constraint 'late'"), refused)
    assert(labels(target).isEmpty)
  }
}

object CheckedWritesSuite {

  /** Tables of the driver, which runs the tasks as well. */
  val tables = new java.util.concurrent.ConcurrentHashMap[String, RecordTable]

  /** Adds a check to a table that has none. */
  def declareOnce(path: String): Unit = synchronized {
    val latest = tables.get(path).latest()
    if (latest.declarations().constraints().isEmpty)
      DeclarationChange
        .of(latest)
        .add(Constraint.check("late", "label > 0", Seq(Integer.valueOf(2)).asJava))
        .commit()
  }
}
