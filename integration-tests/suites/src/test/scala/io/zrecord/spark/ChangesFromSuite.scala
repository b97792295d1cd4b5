package io.zrecord.spark

import java.sql.Timestamp

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}

/** The changes between versions, told by the options of a read, on every Spark. */
class ChangesFromSuite extends ChangedTables {
  private def random = new Random(Budget.seed)

  private def byPath(table: ChangedTable, options: (String, String)*): DataFrame =
    read(table.path, options: _*)

  private def byName(table: ChangedTable, options: (String, String)*): DataFrame =
    spark.read.options(options.toMap).table(table.name)

  private def sorted(rows: Seq[Change]): Seq[Change] = rows.sortBy(_.toString)

  /** Returns the changes by the path, which are those by the name. */
  private def told(table: ChangedTable, options: (String, String)*): Seq[Change] = {
    val found = sorted(changes(byPath(table, options: _*)))
    assert(sorted(changes(byName(table, options: _*))) == found)
    found
  }

  private def filled(): ChangedTable = {
    val table = new ChangedTable(random)
    table.insert(4)
    table.update(3, 1)
    table.delete(3, 2)
    table.rebalance()
    table.merge(3, 2)
    assert(table.last == 5)
    table
  }

  test("each version of a range is told with the records before and after") {
    val table = filled()
    for (from <- 0 to 5; to <- from to 5)
      assert(
        told(table, "changesFrom" -> s"$from", "changesTo" -> s"$to") ==
          sorted(table.toldBetween(from, to)),
        s"$from to $to"
      )
    assert(told(table, "changesFrom" -> "0") == sorted(table.toldBetween(0, 5)))
    assert(table.toldBetween(0, 5).map(_._1).distinct.size == 4)
  }

  test("the columns are those of the last version, and three that say what a row is") {
    val table = filled()
    val expected = "id bigint, part int, label int, text string, _change_type string not null," +
      " _commit_version bigint not null, _commit_timestamp timestamp not null"
    for (frame <- Seq(byPath(table, "changesFrom" -> "1"), byName(table, "changesFrom" -> "1")))
      assert(
        frame.schema.toDDL.replace("`", "").toLowerCase.replace(",", ", ") ==
          expected.replace("bigint", "bigint").toLowerCase,
        frame.schema.toDDL
      )
    sql(s"alter table ${table.name} add column late int default 7")
    sql(s"alter table ${table.name} rename column text to words")
    sql(s"update ${table.name} set late = 8 where id = 0")
    for (
      frame <- Seq(byPath(table, "changesFrom" -> "2"), byName(table, "changesFrom" -> "2"));
      found = frame.selectExpr("_change_type", "_commit_version", "id", "words", "late").collect()
    ) {
      assert(found.contains(Row("update_preimage", 2L, 1L, "t1", 7)))
      assert(found.contains(Row("update_postimage", 8L, 0L, "t0", 8)))
    }
    assert(told(table, "changesFrom" -> "2", "changesTo" -> "5") == sorted(table.toldBetween(2, 5)))
  }

  test("a version is named by its number, a tag or a time") {
    val table = filled()
    tableAt(table.path).tag(2, "second")
    val second = sorted(table.toldBetween(2, 2))
    assert(told(table, "changesFrom" -> "second", "changesTo" -> "second") == second)
    assert(told(table, "changesFrom" -> "latest") == Nil)
    def time(version: Long) = tableAt(table.path).version(version).timestamp()
    assert(
      told(
        table,
        "changesFromTimestamp" -> time(2).toString,
        "changesToTimestamp" -> time(3).toString
      ) == sorted(table.toldBetween(2, 3))
    )
    assert(
      told(table, "changesFrom" -> "2", "changesToTimestamp" -> time(3).toString) ==
        sorted(table.toldBetween(2, 3))
    )
    assert(told(table, "changesFromTimestamp" -> "2020-01-01") == sorted(table.toldBetween(0, 5)))
    assert(told(table, "changesFromTimestamp" -> "2999-01-01") == Nil)
    for (
      row <- byPath(table, "changesFrom" -> "0")
        .select("_commit_version", "_commit_timestamp")
        .collect()
    )
      assert(row.getTimestamp(1) == Timestamp.from(time(row.getLong(0))))
  }

  test("net changes tell each record once") {
    val table = filled()
    val net = "deduplicationMode" -> "netChanges"
    for (from <- 1 to 5; to <- from to 5)
      assert(
        told(table, "changesFrom" -> s"$from", "changesTo" -> s"$to", net) ==
          sorted(table.netBetween(from, to)),
        s"$from to $to"
      )
    assert(
      told(table, "changesFrom" -> "2", "deduplicationMode" -> "NONE") ==
        sorted(table.toldBetween(2, 5))
    )
  }

  test("CHANGES tells the same rows in the same columns") {
    assume(hasChanges, "CHANGES is new in Spark 4.2")
    val table = filled()
    for (
      (mode, option) <- Seq(
        "" -> Nil,
        "with (deduplicationMode = 'netChanges')" -> Seq("deduplicationMode" -> "netChanges")
      );
      from <- 1 to 5;
      to <- from to 5
    ) {
      val ofSql =
        spark.sql(s"select * from ${table.name} changes from version $from to version $to $mode")
      val options = Seq("changesFrom" -> s"$from", "changesTo" -> s"$to") ++ option
      val found = byName(table, options: _*)
      assert(found.schema == ofSql.schema)
      assert(
        found.collect().map(_.toString).sorted.toSeq == ofSql.collect().map(_.toString).sorted.toSeq
      )
    }
  }

  test("options in SQL give the columns of changes to a star, and a view keeps its versions") {
    val table = filled()
    if (hasOptionsInSql) {
      val frame = spark.sql(s"select * from ${table.name} with (changesFrom = '2') order by 1")
      assert(frame.columns.toSeq.takeRight(3).head == "_change_type")
      assert(sorted(changes(frame)) == sorted(table.toldBetween(2, 5)))
      val ofPath = spark.sql(s"select * from zrecord.`${table.path}` with (changesFrom = '2')")
      assert(sorted(changes(ofPath)) == sorted(table.toldBetween(2, 5)))
      val subquery = s"select 1 where 7 = (select count(*) from ${table.name}" +
        " with (changesFrom = '2', changesTo = '5'))"
      assert(sql(subquery).size == (if (table.toldBetween(2, 5).size == 7) 1 else 0))
      val copy = s"lake.${freshTable()}"
      sql(s"create table $copy as select * from ${table.name} with (changesFrom = '2')")
      assert(sorted(changes(spark.table(copy))) == sorted(table.toldBetween(2, 5)))
      frame.writeTo(copy).append()
      assert(spark.table(copy).count() == 2 * table.toldBetween(2, 5).size)
    }
    byName(table, "changesFrom" -> "2").createOrReplaceTempView("changes_from")
    val before = sorted(table.toldBetween(2, 5))
    table.insert(3)
    assert(sorted(changes(spark.table("changes_from"))) == before)
    if (hasOptionsInSql) {
      val refused = failure(spark.read.option("changesFrom", "1").table("changes_from").count())
      assert(refused.contains("view") || refused.contains("changesFrom"), refused)
    }
  }

  test("a table of the session's catalog tells its changes, in a batch and in a stream") {
    val name = freshTable()
    sql(s"create table $name (id bigint, label int) using zrecord")
    sql(s"insert into $name select id, 0 from range(3)")
    sql(s"update $name set label = 1 where id = 1")
    val last = spark.read.option("changesFrom", "latest").table(name)
    assert(
      last.select("_change_type", "id", "label").collect().toSet ==
        Set(Row("update_preimage", 1L, 0), Row("update_postimage", 1L, 1))
    )
    assert(
      spark.readStream.option("readChanges", "true").table(name).columns.last == "_commit_timestamp"
    )
    sql(s"drop table $name")
  }

  test("rows of changes join the records of the table, and each other") {
    val table = filled()
    val joined = byName(table, "changesFrom" -> "2")
      .join(spark.table(table.name).select("id"), "id")
      .join(byPath(table, "changesFrom" -> "1", "changesTo" -> "1").select("id"), "id")
    assert(joined.where("_change_type = 'update_postimage'").count() == 2)
  }

  test("an append of what changed conflicts with other appends, unless the end is named") {
    spark.udf.register("meanwhile", (id: Long) => Meanwhile.run())
    for ((end, conflicts) <- Seq(Nil -> true, Seq("changesTo" -> "2") -> false)) withClue(end) {
      val table = filled()
      Meanwhile.action.set(() => sql(s"insert into ${table.name} values (100, 1, 1, 'other')"))
      val options = Seq("changesFrom" -> "1") ++ end
      def copy(): Unit = byName(table, options: _*)
        .where("_commit_version = 1 and meanwhile(id)")
        .selectExpr("id + 50 id", "part", "label", "text")
        .write
        .insertInto(table.name)
      if (conflicts) assert(failure(copy()).toLowerCase.contains("conflict"))
      else copy()
      assert(Meanwhile.failure.get() == null && Meanwhile.action.get() == null)
    }
  }

  /** Returns a table with one shard of long texts, and one more shard. */
  private def longTexts(): (ChangedTable, Seq[String]) = {
    val table = new ChangedTable(random)
    for (from <- Seq(0, 4))
      sql(
        s"insert into ${table.name} select id, 0, 0, repeat(char(65 + id), 70000)" +
          s" from range($from, ${from + 4}, 1, 1)"
      )
    sql(s"update ${table.name} set label = 5, text = repeat('z', 70000) where id = 1")
    sql(s"delete from ${table.name} where id = 2")
    sql(s"update ${table.name} set label = 6 where id = 0")
    (table, filesOf(table.path).names.filter(_.endsWith(".zr")).toSeq)
  }

  private val lengths =
    Seq("_change_type", "_commit_version", "id", "label", "substring(text, 70000) last")

  test("no value of a record is read that did not change, and none that nobody asks for") {
    val (table, chunks) = longTexts()
    // The texts of records 0, and of 3 to 7, which nobody asked for or which nothing changed.
    for (chunk <- chunks)
      filesOf(table.path).change(chunk) { bytes =>
        val damaged = "ADEFGH".map(_.toByte).toSet
        for (i <- 1 until bytes.length - 1)
          if (damaged(bytes(i)) && bytes(i - 1) == bytes(i)) bytes(i) = '-'.toByte
        bytes
      }
    assert(failure(spark.table(table.name).selectExpr("md5(text)").collect()).nonEmpty)
    for (net <- Seq("none", "netChanges")) {
      val told = byName(
        table,
        "changesFrom" -> "3",
        "changesTo" -> "4",
        "deduplicationMode" -> net,
        "verify" -> "always"
      ).selectExpr(lengths: _*).collect().map(_.toSeq).sortBy(_.mkString)
      val version = if (net == "none") 3L else 4L
      assert(
        told.toSeq == Seq(
          Seq("delete", 4L, 2L, 0, "C"),
          Seq("update_postimage", version, 1L, 5, "z"),
          Seq("update_preimage", version, 1L, 0, "B")
        )
      )
    }
    val narrow = byPath(table, "changesFrom" -> "5", "verify" -> "always")
    assert(
      narrow.selectExpr("_change_type", "label").collect().toSet ==
        Set(Row("update_preimage", 0), Row("update_postimage", 6))
    )
    assert(failure(narrow.selectExpr("md5(text)").collect()).nonEmpty, "the control")
    val some = byPath(table, "changesFrom" -> "0", "verify" -> "always")
      .where("_commit_version = 4")
      .selectExpr(lengths: _*)
      .collect()
    assert(some.toSeq == Seq(Row("delete", 4L, 2L, 0, "C")))
    assert(byPath(table, "changesFrom" -> "0").count() == 8 + 2 + 1 + 2)
  }

  private val refusals: Seq[(Seq[(String, String)], Seq[String])] = {
    val from = "changesFrom" -> "1"
    Seq(
      Seq(from, "versionAsOf" -> "3") -> Seq("versionAsOf", "'3'", "leave versionAsOf out"),
      Seq(from, "tag" -> "t") -> Seq("tag", "'t'", "leave tag out"),
      Seq(from, "timestampAsOf" -> "2999-01-01") -> Seq("timestampAsOf", "leave"),
      Seq(from, "view" -> "versions") -> Seq("view", "'versions'", "leave view out"),
      Seq(from, "indices" -> "1") -> Seq("indices", "'1'", "leave"),
      Seq(from, "sampler" -> "shuffle") -> Seq("sampler", "'shuffle'", "leave"),
      Seq(from, "numPartitions" -> "3") -> Seq("numPartitions", "'3'", "leave"),
      Seq(from, "statistics" -> "false") -> Seq("statistics", "'false'", "leave"),
      Seq(from, "startingVersion" -> "3") -> Seq("startingVersion", "is of streams"),
      Seq(from, "readChanges" -> "true") -> Seq("readChanges", "is of streams"),
      Seq(from, "changesFromTimestamp" -> "2020-01-01") -> Seq(
        "exclude each other",
        "changesFrom=1"
      ),
      Seq(from, "changesTo" -> "1", "changesToTimestamp" -> "2020-01-01") -> Seq(
        "exclude each other"
      ),
      Seq("changesTo" -> "1") -> Seq("changesTo", "'1'", "give changesFrom"),
      Seq("deduplicationMode" -> "netChanges") -> Seq("deduplicationMode", "give changesFrom"),
      Seq(from, "deduplicationMode" -> "some") -> Seq("deduplicationMode", "'some'", "netChanges"),
      Seq("changesFrom" -> "") -> Seq("changesFrom", "number of a version"),
      Seq("changesFrom" -> "-1") -> Seq("changesFrom", "'-1'", "number of a version"),
      Seq("changesFrom" -> "nothing") -> Seq("nothing"),
      Seq("changesFrom" -> "9") -> Seq("9"),
      Seq("changesFrom" -> "4", "changesTo" -> "2") -> Seq("from version 4 to version 2"),
      Seq("changesFromTimestamp" -> "noon") -> Seq("changesFromTimestamp", "'noon'", "use a time"),
      Seq(from, "verify" -> "perhaps") -> Seq("verify"),
      Seq(from, "bogus" -> "1") -> Seq("bogus")
    )
  }

  test("what does not go with changes is refused with the name, the value and the remedy") {
    val table = filled()
    for ((options, words) <- refusals; frame <- Seq(byPath _, byName _)) withClue(options) {
      val refused = failure(frame(table, options).collect())
      words.foreach(word => assert(refused.contains(word), refused))
      assert(!refused.contains("INTERNAL_ERROR"), refused)
    }
    val several =
      failure(read(table.path, "changesFrom" -> "1", "paths" -> s"""["${table.path}"]""").count())
    assert(several.contains("2 datasets") || several.contains("path"), several)
    val travelled = Option(s"select * from ${table.name} version as of 2 with (changesFrom = '1')")
    for (text <- travelled if hasOptionsInSql) assert(failure(sql(text)).nonEmpty)
  }

  test("a write refuses the options of changes, and a session's default is for reads of paths") {
    val table = filled()
    val frame = spark.table(table.name)
    for (
      key <- Seq(
        "changesFrom",
        "changesTo",
        "changesFromTimestamp",
        "deduplicationMode",
        "readChanges"
      )
    ) {
      val value = if (key == "readChanges") "true" else "1"
      for (mode <- Seq("append", "overwrite", "ignore")) withClue(s"$key $mode") {
        def save(): Unit =
          write(frame, table.path, mode, key -> value, "unknownOptions" -> "ignore")
        if (mode != "ignore" || key.startsWith("changesFrom")) assert(failure(save()).contains(key))
      }
      assert(failure(frame.writeTo(table.name).option(key, value).append()).contains(key))
    }
    assert(table.last == 5)
    spark.conf.set("spark.datasource.zrecord.changesFrom", "2")
    try {
      assert(sorted(changes(read(table.path))) == sorted(table.toldBetween(2, 5)))
      assert(spark.table(table.name).count() == 4, "a default is for reads of a path")
    } finally spark.conf.unset("spark.datasource.zrecord.changesFrom")
    spark.conf.set("spark.datasource.zrecord.versionAsOf", "1")
    try assert(told(table, "changesFrom" -> "2") == sorted(table.toldBetween(2, 5)))
    finally spark.conf.unset("spark.datasource.zrecord.versionAsOf")
  }

  test("what is no table is refused") {
    val path = freshPath()
    assert(failure(read(path, "changesFrom" -> "0").count()).contains(path))
    val columns = spark.range(3).selectExpr("id", "'x' _change_type")
    write(columns, path, "append")
    val refused = failure(read(path, "changesFrom" -> "0").count())
    assert(refused.contains("_change_type") && refused.contains("rename"), refused)
    val other = freshLocalPath()
    spark.range(3).write.parquet(other)
    assert(spark.read.option("changesFrom", "1").parquet(other).count() == 3, "another's option")
  }

  for (isPartitioned <- Seq(false, true))
    test(
      s"random statements: what a list says that versions changed is told, partitioned: $isPartitioned (${Budget.seed})"
    ) {
      val chance = random
      for (round <- 1 to Budget.of(10)) withClue(s"round $round: ") {
        val table = new ChangedTable(chance, isPartitioned)
        table.insert(20)
        for (_ <- 0 until 12) table.any(isTold = true)
        val last = table.last
        assert(last + 1 == table.versions.size)
        for (version <- 0L to last)
          assert(
            sorted(
              changes(byPath(table, "changesFrom" -> s"$version", "changesTo" -> s"$version"))
            ) ==
              sorted(table.toldBetween(version, version)),
            s"version $version"
          )
        assert(applied(Map.empty, told(table, "changesFrom" -> "0")) == table.versions.last)
        for (_ <- 0 until 4) {
          val from = 1L + chance.nextInt(last.toInt)
          val to = from + chance.nextInt((last - from).toInt + 1)
          val range = Seq("changesFrom" -> s"$from", "changesTo" -> s"$to")
          assert(told(table, range: _*) == sorted(table.toldBetween(from, to)), s"$from to $to")
          assert(
            told(table, range :+ ("deduplicationMode" -> "netChanges"): _*) ==
              sorted(table.netBetween(from, to)),
            s"net changes of $from to $to"
          )
        }
      }
    }
}
