package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer

import io.zrecord.schema.ElementType
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}

/** What changed in versions in which a column had another type than in the last one: a table that
  * was rolled back over a wider type, and one whose columns were replaced.
  */
class ChangedTypesSuite extends ChangedStreams {

  /** A narrow type, a wider type and its name in the table, values of the narrow type that are read
    * as the wider one, and one that only the wider type has.
    */
  private val types: Seq[(String, String, ElementType, Seq[String], String)] = Seq(
    ("tinyint", "smallint", ElementType.I16, Seq("-128", "127"), "128"),
    ("tinyint", "bigint", ElementType.I64, Seq("-128", "127"), "-129"),
    ("smallint", "int", ElementType.I32, Seq("-32768", "32767"), "32768"),
    ("int", "bigint", ElementType.I64, Seq("-2147483648", "2147483647"), "2147483648"),
    ("float", "double", ElementType.F64, Seq("1.5", "-0.0", "float('nan')"), "1.1D"),
    (
      "date",
      "timestamp_ntz",
      ElementType.TIMESTAMP_NTZ,
      Seq("date'0001-01-01'", "date'1969-12-31'", "date'2024-02-29'"),
      "timestamp_ntz'1969-12-31 23:59:59.999999'"
    ),
    ("decimal(5,2)", "decimal(9,2)", ElementType.decimal(9, 2), Seq("999.99", "-999.99"), "1000"),
    ("decimal(5,2)", "decimal(38,2)", ElementType.decimal(38, 2), Seq("-999.99"), "-1000"),
    ("decimal(20,2)", "decimal(38,2)", ElementType.decimal(38, 2), Seq("7"), "1e30"),
    (
      "array<int>",
      "array<bigint>",
      ElementType.I64,
      Seq("array(1, -2)", "array()"),
      "array(7, 2147483648)"
    ),
    ("string", "binary", ElementType.BYTES, Seq("'text'", "''", "'ü€'"), "X'ff41'")
  )

  private def table(columns: String): (String, String) = {
    val table = freshTable()
    sql(s"create table lake.$table ($columns) using zrecord")
    val path = tableAt(spark.conf.get("spark.sql.catalog.lake.warehouse") + s"/$table")
    (s"lake.$table", path.latest().storage().location().stripPrefix("file:"))
  }

  private def add(name: String, from: Int, values: Seq[String], cast: String): Unit =
    sql(
      values.zipWithIndex
        .map { case (value, i) =>
          s"select ${from + i}L, cast($value as $cast)"
        }
        .mkString(s"insert into $name ", " union all ", "")
    )

  private def told(frame: DataFrame): Seq[String] =
    frame
      .selectExpr("_commit_version", "_change_type", "to_json(struct(id, c))")
      .collect()
      .map(_.mkString(" "))
      .sorted
      .toSeq

  /** Runs a stream to its end, and returns what it has delivered. */
  private def stream(source: DataFrame, checkpoint: String)(
      rowsOf: DataFrame => Seq[String]
  ): Seq[String] = {
    val found = ArrayBuffer.empty[String]
    run(
      withOptions(
        source.writeStream.trigger(Trigger.AvailableNow()),
        "checkpointLocation" -> checkpoint
      ).foreachBatch { (batch: DataFrame, _: Long) => found ++= rowsOf(batch); () }.start()
    )
    found.sorted.toSeq
  }

  private def records(frame: DataFrame): Seq[String] =
    frame.selectExpr("to_json(struct(id, c))").collect().map(_.getString(0)).toSeq

  private case class Rolled(name: String, path: String, ofChanges: String, ofRecords: String) {
    def read(options: (String, String)*): DataFrame = spark.read.options(options.toMap).table(name)

    def changes(options: (String, String)*): DataFrame =
      spark.readStream.options((("readChanges" -> "true") +: options).toMap).table(name)

    def skipping(options: (String, String)*): DataFrame =
      spark.readStream.options((("skipChangeCommits" -> "true") +: options).toMap).table(name)
  }

  /** Returns a table whose version 1 has a narrow type, 2 to 4 a wider one, and 5 on the narrow one
    * again, and checkpoints of streams that have come to version 1.
    */
  private def rolledBack(
      narrow: String,
      wide: ElementType,
      values: Seq[String],
      wideValues: Seq[String],
      wideName: String
  ): Rolled = {
    val (name, path) = table(s"id bigint, c $narrow")
    add(name, 0, values, narrow)
    val rolled = Rolled(name, path, freshDirectory(), freshDirectory())
    assert(stream(rolled.changes(), rolled.ofChanges)(told).size == values.size)
    assert(stream(rolled.skipping(), rolled.ofRecords)(records).size == values.size)
    tableAt(path).promoteField("c", wide)
    add(name, 100, wideValues, wideName)
    sql(s"update $name set c = (select max(c) from $name where id = 100) where id = 0")
    assert(tableAt(path).latest().version() == 4)
    tableAt(path).rollBack(1)
    add(name, 200, values.take(1), narrow)
    rolled
  }

  private def json(values: Seq[String], cast: String): Seq[String] =
    values.map(value =>
      sql(s"select to_json(struct(cast($value as $cast) c))").head.getString(0).drop(1)
    )

  for ((narrow, wide, type_, values, _) <- types)
    test(s"what was $wide is told as $narrow after a rollback, if it fits") {
      val rolled = rolledBack(narrow, type_, values, values, wide)
      val texts = json(values, narrow)
      def row(version: Int, kind: String, id: Int, text: String) =
        s"""$version $kind {"id":$id,$text"""
      val inserted = texts.zipWithIndex
      val expected = (
        inserted.map { case (text, i) => row(3, "insert", 100 + i, text) } ++
          Seq(
            row(4, "update_preimage", 0, texts.head),
            row(4, "update_postimage", 0, texts.head)
          ) ++
          inserted.flatMap { case (text, i) =>
            Seq(
              row(5, "delete", i, text),
              row(5, "insert", i, text),
              row(5, "delete", 100 + i, text)
            )
          } :+ row(6, "insert", 200, texts.head)
      ).sorted
      assert(told(rolled.read("changesFrom" -> "2")) == expected, "by options")
      if (hasChanges)
        assert(
          told(spark.sql(s"select * from ${rolled.name} changes from version 2")) == expected,
          "CHANGES"
        )
      assert(stream(rolled.changes(), rolled.ofChanges)(told) == expected, "a stream")
      val net = rolled.read("changesFrom" -> "5", "deduplicationMode" -> "netChanges")
      assert(told(net) == expected.filter(_ >= "5").map("6" + _.drop(1)).sorted, "net changes")
      val added = (inserted.map { case (text, i) => s"""{"id":${100 + i},$text""" } :+
        s"""{"id":200,${texts.head}""").sorted
      assert(stream(rolled.skipping(), rolled.ofRecords)(records) == added, "a stream of records")
    }

  for (
    (narrow, wide, type_, values, other) <- types
    if Set("int", "float", "date", "decimal(5,2)", "array<int>", "string")(narrow)
  )
    test(s"a $wide that is no $narrow after a rollback is refused with the remedy") {
      val rolled = rolledBack(narrow, type_, values, Seq(other), wide)
      val net = Seq("changesFrom" -> "5", "deduplicationMode" -> "netChanges")
      for (
        (way, read) <- Seq[(String, () => Any)](
          "by options" -> (() => told(rolled.read("changesFrom" -> "2"))),
          "net changes" -> (() => told(rolled.read(net: _*))),
          "a stream" -> (() => stream(rolled.changes(), rolled.ofChanges)(told)),
          "a stream of records" -> (() => stream(rolled.skipping(), rolled.ofRecords)(records))
        )
      ) withClue(way) {
        val refused = failure(read())
        val words = Seq("'c'", s"${type_}", "rolled back") ++
          (if (way.contains("stream of records")) Seq("new checkpoint")
           else Seq("version", "leave the column out", "new checkpoint"))
        words.foreach(word => assert(refused.contains(word), refused))
        assert(!refused.contains("Restore it from a copy"), refused)
      }
      val ids = rolled.read("changesFrom" -> "2").select("_commit_version", "id").collect()
      assert(ids.contains(Row(3L, 100L)), "without the column")
      val before = rolled.read("changesFrom" -> "2", "changesTo" -> "4")
      assert(told(before).exists(_.startsWith("3 insert")), "before the rollback")
      assert(stream(rolled.changes(), freshDirectory())(told).size == values.size + 1)
    }

  test("a stream that was opened before a rollback keeps its wider columns") {
    val (name, path) = table("id bigint, c int")
    add(name, 0, Seq("1"), "int")
    tableAt(path).promoteField("c", ElementType.I64)
    add(name, 1, Seq("2147483648"), "bigint")
    val table1 = Rolled(name, path, freshDirectory(), freshDirectory())
    val (held, heldRecords, strict) =
      (table1.changes(), table1.skipping(), spark.readStream.table(name))
    val ofStrict = freshDirectory()
    for (checkpoint <- Seq(table1.ofRecords, ofStrict))
      assert(stream(heldRecords, checkpoint)(records).size == 2)
    assert(stream(held, table1.ofChanges)(told).size == 2)
    tableAt(path).rollBack(1)
    add(name, 2, Seq("3"), "int")
    assert(
      stream(held, table1.ofChanges)(told) == Seq(
        """4 delete {"id":0,"c":1}""",
        """4 delete {"id":1,"c":2147483648}""",
        """4 insert {"id":0,"c":1}""",
        """5 insert {"id":2,"c":3}"""
      )
    )
    assert(stream(heldRecords, table1.ofRecords)(records) == Seq("""{"id":2,"c":3}"""))
    for (source <- Seq(strict, spark.readStream.table(name))) {
      val refused = failure(stream(source, ofStrict)(records))
      assert(refused.contains("over version 4, whose operation 'overwrite'"), refused)
      assert(refused.contains("skipChangeCommits=true") && refused.contains("readChanges=true"))
    }
    add(name, 3, Seq("4"), "int")
    assert(stream(table1.changes(), table1.ofChanges)(told) == Seq("""6 insert {"id":3,"c":4}"""))
    assert(stream(table1.skipping(), table1.ofRecords)(records) == Seq("""{"id":3,"c":4}"""))
  }

  test("a column that was NOT NULL again after a rollback may be absent in what changed before") {
    val (name, path) = table("id bigint, c int not null")
    add(name, 0, Seq("1"), "int")
    val rolled = Rolled(name, path, freshDirectory(), freshDirectory())
    assert(stream(rolled.changes(), rolled.ofChanges)(told).size == 1)
    val held = rolled.skipping()
    assert(!held.schema("c").nullable)
    assert(stream(held, rolled.ofRecords)(records).size == 1)
    sql(s"alter table $name alter column c drop not null")
    add(name, 1, Seq("null"), "int")
    val later = failure(stream(held, rolled.ofRecords)(records))
    assert(later.contains("'c' may be absent in version 3"), later)
    assert(later.contains("frame again") && later.contains("same checkpoint"), later)
    tableAt(path).rollBack(1)
    val expected = Seq(
      """3 insert {"id":1}""",
      """4 delete {"id":0,"c":1}""",
      """4 delete {"id":1}""",
      """4 insert {"id":0,"c":1}"""
    )
    assert(told(rolled.read("changesFrom" -> "2")) == expected)
    assert(stream(rolled.changes(), rolled.ofChanges)(told) == expected)
    val refused = failure(stream(rolled.skipping(), rolled.ofRecords)(records))
    assert(refused.contains("'c' may be absent in version 3"), refused)
    assert(refused.contains("new checkpoint") && !refused.contains("frame again"), refused)
  }

  for (
    (way, replace) <- Seq[(String, (String, String) => Unit)](
      "overwriteSchema" -> ((_, path) =>
        write(
          spark.range(7, 8, 1, 1).selectExpr("id", "cast(70 as int) c"),
          path,
          "overwrite",
          "overwriteSchema" -> "true"
        )
      ),
      "an overwrite of another type" -> ((_, path) =>
        write(spark.range(7, 8, 1, 1).selectExpr("id", "cast(70 as float) c"), path, "overwrite")
      ),
      "REPLACE TABLE AS SELECT" -> ((name, _) =>
        sql(s"replace table $name using zrecord as select 7L id, cast(70 as int) c")
      )
    )
  )
    test(s"$way gives another column, which older versions do not have") {
      val (name, path) = table("id bigint, c bigint")
      add(name, 0, Seq("5", "2147483648"), "bigint")
      val rolled = Rolled(name, path, freshDirectory(), freshDirectory())
      val held = rolled.changes()
      assert(stream(held, rolled.ofChanges)(told).size == 2)
      replace(name, path)
      val version = tableAt(path).latest().version()
      val expected = Seq(
        s"""$version delete {"id":0}""",
        s"""$version delete {"id":1}""",
        s"""$version insert {"id":7,"c":${if (way.contains("another type")) "70.0" else "70"}}"""
      )
      assert(told(rolled.read("changesFrom" -> "2")) == expected)
      assert(
        told(rolled.read("changesFrom" -> "1")) ==
          Seq("""1 insert {"id":0}""", """1 insert {"id":1}""") ++ expected
      )
      if (hasChanges)
        assert(told(spark.sql(s"select * from $name changes from version 2")) == expected)
      val refused = failure(stream(held, rolled.ofChanges)(told))
      assert(refused.contains("'c' was dropped") && refused.contains("frame again"), refused)
      assert(stream(rolled.changes(), rolled.ofChanges)(told) == expected)
    }

  test("metadata tables show a table that was rolled back as it was, and what was done") {
    val rolled = rolledBack("int", ElementType.I64, Seq("1", "2"), Seq("3"), "bigint")
    val before = tableAt(rolled.path).latest().version() - 1
    def view(name: String, version: Long): Seq[String] = {
      val frame = read(rolled.path, "view" -> name, "versionAsOf" -> version.toString)
      val columns = frame.columns.filterNot(Set("order"))
      frame
        .selectExpr(s"to_json(struct(${columns.mkString(", ")}))")
        .collect()
        .toSeq
        .map(_.getString(0))
        .filterNot(_.contains("manifest"))
        .sorted
    }
    for (
      name <- Seq("shards", "files", "fields", "partitions", "chunks", "shard_usage", "field_usage")
    ) withClue(name) {
      assert(view(name, before) == view(name, 1))
      assert(view(name, before) != view(name, 4))
    }
    val versions = read(rolled.path, "view" -> "versions")
      .where(s"version = $before")
      .selectExpr("operation", "records", "added_bytes", "properties['rolledBackTo']")
    assert(versions.collect().toSeq == Seq(Row("overwrite", 2L, 0L, "1")))
  }
}
