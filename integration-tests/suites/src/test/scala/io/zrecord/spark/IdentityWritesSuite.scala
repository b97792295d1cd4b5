package io.zrecord.spark

import java.nio.file.Paths

import scala.collection.JavaConverters._

import io.zrecord.schema.Identity
import io.zrecord.storage.local.LocalStorage
import io.zrecord.table.{DeclarationChange, RecordTable}
import io.zrecord.testing.Budget
import org.apache.spark.TaskContext
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.functions.{col, lit, udf}

/** Spark numbers the records of a table that has an identity, on every way to write. */
class IdentityWritesSuite extends SessionTablesSuite with NumberedTables {
  private val Start = 1000L
  private val Step = -5L

  private def always: String = numberedTable(Identity.always(1, Start, Step))

  private def byDefault: String = numberedTable(Identity.byDefault(1, Start, Step))

  private case class Target(name: String, path: String)

  private val targets: Seq[(String, String => Target)] = Seq(
    "path" -> { path => Target(s"zrecord.`$path`", path) },
    "session table" -> { path =>
      val name = freshTable()
      spark.sql(s"create table $name using zrecord location '$path'")
      Target(name, path)
    },
    "session table that declares NOT NULL" -> { path =>
      val name = freshTable()
      val columns = "id bigint not null, text string, label int"
      spark.sql(s"create table $name ($columns) using zrecord location '$path'")
      Target(name, path)
    }
  )

  /** A way to write.
    *
    * @param isByName
    *   whether columns can be left out
    * @param replaces
    *   whether the rows that were there go
    * @param isFilledBySpark
    *   whether Spark fills columns that are left out, which it does from 4.1 on, or else refuses
    */
  private case class Way(
      name: String,
      isByName: Boolean,
      replaces: Boolean,
      isFilledBySpark: Boolean
  )(val write: (Target, DataFrame) => Unit)

  private def sql(statement: String)(target: Target, data: DataFrame): Unit = {
    data.createOrReplaceTempView("src")
    val columns = data.columns.mkString(", ")
    spark.sql(statement.replace("%t", target.name).replace("%c", columns))
  }

  private val ways = Seq(
    Way("INSERT by position", false, false, true)(sql("insert into %t select %c from src")),
    Way("INSERT with columns", true, false, true)(sql("insert into %t (%c) select %c from src")),
    Way("INSERT BY NAME", true, false, true)(sql("insert into %t by name select %c from src")),
    Way("INSERT OVERWRITE", false, true, true)(sql("insert overwrite %t select %c from src")),
    Way("save append", true, false, false)((t, d) => write(d, t.path, "append")),
    Way("save overwrite", true, true, false)((t, d) => write(d, t.path, "overwrite")),
    Way("insertInto", false, false, true)((t, d) => d.write.insertInto(t.name)),
    Way("saveAsTable append", true, false, true)((t, d) =>
      d.write.format("zrecord").mode("append").saveAsTable(t.name)
    ),
    Way("writeTo append", true, false, true)((t, d) => d.writeTo(t.name).append()),
    Way("writeTo overwrite", true, true, true)((t, d) => d.writeTo(t.name).overwrite(lit(true)))
  )

  private def fills: Boolean =
    !spark.version.startsWith("3.") && !spark.version.startsWith("4.0")

  private def unnumbered(labels: Range): DataFrame =
    spark.range(labels.start, labels.end, 1, 2).selectExpr("'t' text", "cast(id as int) label")

  private def withNulls(labels: Range): DataFrame =
    unnumbered(labels).selectExpr("cast(null as bigint) id", "text", "label")

  private def labels(path: String): Seq[Int] =
    read(path).select("label").collect().map(_.getInt(0)).sorted.toSeq

  private def numbers(path: String): Seq[Long] =
    read(path).select("id").collect().map(_.getLong(0)).toSeq

  /** Requires different numbers that were reserved from the series of the table. */
  private def requireNumbered(path: String): Unit = {
    val found = numbers(path)
    val identity = identityOf(path)
    assert(found.distinct.size == found.size, found)
    assert(found.forall(n => n <= Start && n > identity.next() && (Start - n) % -Step == 0), found)
  }

  private def requireRefusedEarly(path: String, said: String*)(action: => Any): Unit = {
    val before = (tableAt(path).versions(), filesOf(path).names)
    val error = intercept[AnalysisException](action)
    for (words <- said) assert(error.getMessage.contains(words), error.getMessage)
    assert((tableAt(path).versions(), filesOf(path).names) == before)
  }

  for (way <- ways; (where, make) <- chosen(targets))
    test(s"${way.name} into a $where numbers rows without a number (seed ${Budget.seed})") {
      val target = make(always)
      write(unnumbered(0 until 3), target.path, "append")
      way.write(target, withNulls(3 until 6))
      val first = if (way.replaces) 3 else 0
      assert(labels(target.path) == (first until 6))
      requireNumbered(target.path)
      if (way.isByName) {
        val left = unnumbered(6 until 9)
        if (way.isFilledBySpark && !fills)
          requireRefusedEarly(target.path, "id")(way.write(target, left))
        else {
          way.write(target, left)
          assert(labels(target.path) == ((if (way.replaces) 6 else 0) until 9))
          requireNumbered(target.path)
        }
      }
      assert(tableAt(target.path).latest().schema().fields().asScala == numberedFields)
    }

  for (way <- ways; (where, make) <- chosen(targets))
    test(
      s"${way.name} into a $where takes numbers only by default (seed ${Budget.seed})"
    ) {
      def data(labels: Range) =
        unnumbered(labels).selectExpr("cast(label as bigint) id", "text", "label")
      val target = make(byDefault)
      way.write(target, data(0 until 3))
      assert(numbers(target.path).sorted == Seq(0, 1, 2))
      way.write(target, data(3 until 6).selectExpr("nullif(id, 4) id", "text", "label"))
      val mixed = numbers(target.path)
      assert(mixed.size == (if (way.replaces) 3 else 6))
      assert(mixed.contains(3L) && mixed.contains(5L) && !mixed.contains(4L), mixed)
      val other = make(always)
      requireRefusedEarly(other.path, "'id'", "always generated", "leave the column out")(
        way.write(other, data(0 until 3))
      )
    }

  test("a value that is given beside NULLs for a field that is always generated is refused") {
    val path = always
    val data = unnumbered(0 until 6).selectExpr("nullif(label, 3) id", "text", "label")
    val message = failure(write(data, path, "append"))
    assert(message.contains("the column 'id', which the table always generates"), message)
    assert(labels(path).isEmpty)
  }

  for ((where, make) <- targets; value <- Seq("default", "null"))
    test(s"$value among the VALUES of an INSERT into a $where is a number") {
      val target = make(always)
      spark.sql(s"insert into ${target.name} values ($value, 'a', 1), ($value, 'b', 2)")
      assert(labels(target.path) == Seq(1, 2))
      requireNumbered(target.path)
    }

  for (
    (where, make) <- targets;
    (how, statement) <- Seq(
      "INSERT" -> "insert into %t select cast(null as bigint), text, label + 2 from %t",
      "INSERT OVERWRITE" ->
        "insert overwrite %t select cast(null as bigint), text, label + 2 from %t",
      "INSERT without the column" ->
        "insert into %t (text, label) select text, label + 2 from %t"
    )
  )
    test(s"$how that reads its own target, a $where, numbers the rows") {
      assume(fills || !statement.contains("(text"), "this Spark refuses columns that are left out")
      val target = make(always)
      write(unnumbered(0 until 2), target.path, "append")
      spark.sql(statement.replace("%t", target.name))
      assert(labels(target.path) == (if (how.endsWith("OVERWRITE")) 2 until 4 else 0 until 4))
      requireNumbered(target.path)
    }

  private val views: Seq[(String, Target => DataFrame)] = Seq(
    "a view of load" -> (target => read(target.path)),
    "a view of table" -> (target => spark.table(target.name))
  )

  for (
    (where, make) <- targets;
    (view, load) <- views;
    statement <- Seq(
      "insert into v values (null, 't', 2), (null, 't', 3)",
      "insert into v select cast(null as bigint), 't', cast(id as int) from range(2, 4)",
      "insert into v (text, label) values ('t', 2), ('t', 3)"
    )
  )
    test(s"$statement, where v is $view, a $where, numbers the rows") {
      assume(fills || !statement.contains("(text"), "this Spark refuses columns that are left out")
      val target = make(always)
      write(unnumbered(0 until 2), target.path, "append")
      load(target).createOrReplaceTempView("v")
      spark.sql(statement)
      assert(labels(target.path) == (0 until 4))
      requireNumbered(target.path)
    }

  test("tasks that need more than their first numbers reserve more, with few commits") {
    val path = always
    val before = tableAt(path).latest().version()
    write(
      spark.range(0, 5000, 1, 4).selectExpr("'t' text", "cast(id as int) label"),
      path,
      "append"
    )
    assert(labels(path) == (0 until 5000))
    requireNumbered(path)
    // One reservation for all tasks, one for each, and the append.
    assert(tableAt(path).latest().version() == before + 1 + 4 + 1)
    write(unnumbered(5000 until 5010), path, "append", "expectedVersion" -> (before + 6).toString)
    assert(labels(path) == (0 until 5010))
    requireNumbered(path)
  }

  for ((tasks, rows) <- Seq(64 -> 8192, 256 -> 2000))
    test(s"$tasks tasks of $rows rows reserve their numbers by one commit") {
      val path = always
      val before = tableAt(path).latest().version()
      val data =
        spark.range(0, tasks * rows, 1, tasks).selectExpr("'t' text", "cast(id as int) label")
      write(data, path, "append")
      assert(tableAt(path).latest().version() == before + 1 + 1)
      assert(read(path).select("id").distinct().count() == tasks * rows)
      assert(read(path).where(s"id <= ${identityOf(path).next()} or id > $Start").count() == 0)
    }

  test("a write whose rows bring all numbers reserves none") {
    val path = byDefault
    val before = tableAt(path).latest().version()
    write(unnumbered(0 until 4).selectExpr("7L id", "text", "label"), path, "append")
    assert(numbers(path) == Seq(7, 7, 7, 7))
    assert(tableAt(path).latest().version() == before + 1)
  }

  test("attempts that fail leave gaps, and no number twice") {
    val path = always
    val failing = udf { (label: Int) =>
      if (label % 1500 == 1400 && TaskContext.get.attemptNumber() < 2)
        throw new IllegalStateException("an attempt fails")
      label
    }
    val data = spark.range(0, 3000, 1, 2).selectExpr("'t' text", "cast(id as int) label")
    write(data.withColumn("label", failing(col("label"))), path, "append")
    assert(labels(path) == (0 until 3000))
    requireNumbered(path)
  }

  testLocally("a write whose series has ended meanwhile is refused") {
    val path = always
    write(unnumbered(0 until 3), path, "append")
    val redeclare = udf { (label: Int) =>
      DeclarationChange
        .of(RecordTable.at(LocalStorage.at(Paths.get(path))).latest())
        .add(Identity.always(1, 1, 1))
        .commit()
      label
    }
    val data = spark.range(1).selectExpr("'t' text", "3 label")
    val message = failure(write(data.withColumn("label", redeclare(col("label"))), path, "append"))
    assert(message.contains("has an identity from which this writer has reserved no numbers"))
    assert(labels(path) == (0 until 3))
  }

  test("numbers that come to their end are refused, and those that are left are given") {
    val path = numberedTable(Identity.always(1, Long.MaxValue - 4, 1))
    write(unnumbered(0 until 3).coalesce(1), path, "append")
    assert(numbers(path) == (0 until 3).map(Long.MaxValue - 4 + _))
    val message = failure(write(unnumbered(3 until 9), path, "append"))
    assert(message.contains("of its numbers fit into 64 bits"), message)
    assert(labels(path) == (0 until 3))
  }

  test("an overwrite that replaces the fields keeps what an identity needs, or is refused") {
    val path = always
    write(unnumbered(0 until 3), path, "append")
    for (columns <- Seq(Seq("'t' text"), Seq("1L id", "'t' text")))
      requireRefusedEarly(path, "identity")(
        write(
          spark.sql(columns.mkString("select ", ", ", "")),
          path,
          "overwrite",
          "overwriteSchema" -> "true"
        )
      )
    spark.sql(s"create or replace table zrecord.`$path` as select 1L id")
    assert(tableAt(path).latest().declarations().identities().isEmpty)
    assert(numbers(path) == Seq(1))
  }
}
