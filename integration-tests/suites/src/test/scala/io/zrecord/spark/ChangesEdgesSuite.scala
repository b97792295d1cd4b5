package io.zrecord.spark

import java.time.Instant

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** Changes at the edges: ranges that end before they begin or where versions were expired, streams
  * whose first version is gone, defaults of the session, and how a range becomes tasks.
  */
class ChangesEdgesSuite extends ChangedStreams {
  private def told(table: ChangedTable, options: (String, String)*): Seq[Change] = {
    val found = sorted(changes(read(table.path, options: _*)))
    assert(sorted(changes(spark.read.options(options.toMap).table(table.name))) == found)
    found
  }

  private def inSql(table: ChangedTable, range: String): Seq[Change] =
    sorted(changes(spark.sql(s"select * from ${table.name} changes $range")))

  private def withDefaults[T](options: (String, String)*)(action: => T): T = {
    options.foreach { case (key, value) => spark.conf.set(s"spark.datasource.zrecord.$key", value) }
    try action
    finally options.foreach { case (key, _) => spark.conf.unset(s"spark.datasource.zrecord.$key") }
  }

  private def timeOf(table: ChangedTable, version: Long): Instant =
    tableAt(table.path).version(version).timestamp()

  test("a range that ends before it begins is refused, also by one version") {
    val table = filled()
    for (from <- 1 to 5; to <- 0 until from) {
      val options = Seq("changesFrom" -> s"$from", "changesTo" -> s"$to")
      val refused = failure(told(table, options: _*))
      assert(refused.contains(s"from version $from to version $to"), refused)
      assert(refused.contains("comes after the last one"), refused)
      if (hasChanges) {
        val inWords = failure(inSql(table, s"from version $from to version $to"))
        assert(inWords.contains("comes after"), inWords)
      }
    }
    for (
      options <- Seq(
        Seq("changesFromTimestamp" -> "2999-01-02", "changesToTimestamp" -> "2999-01-01"),
        Seq("changesFromTimestamp" -> "2999-01-02", "changesTo" -> "3"),
        Seq("changesFrom" -> "3", "changesToTimestamp" -> timeOf(table, 1).toString)
      )
    ) {
      val refused = failure(told(table, options: _*))
      assert(refused.contains("comes after"), refused)
    }
    if (hasChanges) {
      assert(inSql(table, "from version 3 to version 3 exclusive") == Nil)
      assert(inSql(table, "from version 3 exclusive to version 3") == Nil)
      assert(inSql(table, "from version 3 exclusive to version 4 exclusive") == Nil)
      val first = failure(inSql(table, "from version 0 to version 0 exclusive"))
      assert(first.contains("before version 0"), first)
    }
  }

  test("a bound among versions that were expired is refused with the versions and the remedy") {
    val table = filled()
    val times = (0L to 5L).map(timeOf(table, _))
    tableAt(table.path).tag(1, "kept")
    val last = table.last
    expireTo(table.path, 5)
    assert(tableAt(table.path).versions().toString.startsWith("[1, 4, 5"))
    for (
      options <- Seq(
        Seq("changesFromTimestamp" -> times(2).plusNanos(1000).toString),
        Seq("changesFromTimestamp" -> times(1).plusNanos(1000).toString),
        Seq("changesFrom" -> "kept", "changesToTimestamp" -> times(3).toString)
      )
    ) withClue(options) {
      val refused = failure(told(table, options: _*))
      assert(refused.contains("between 1 and 4, were expired"), refused)
      assert(refused.contains("ask for one of the versions"), refused)
    }
    for (
      options <- Seq(
        Seq("changesFrom" -> "2"),
        Seq("changesFrom" -> "3"),
        Seq("changesFrom" -> "4"),
        Seq("changesFrom" -> "5", "changesTo" -> "3"),
        Seq("changesFrom" -> "kept"),
        Seq("changesFromTimestamp" -> "2020-01-01")
      )
    ) withClue(options) {
      val refused = failure(told(table, options: _*))
      assert(!refused.contains("INTERNAL_ERROR") && !refused.contains("DAMAGED"), refused)
      assert(refused.contains("expired") || refused.contains("no version"), refused)
    }
    assert(told(table, "changesFrom" -> "5", "changesTo" -> "5") == sorted(table.toldBetween(5, 5)))
    assert(
      told(table, "changesFromTimestamp" -> times(5).toString, "changesTo" -> s"$last") ==
        sorted(table.toldBetween(5, 5))
    )
  }

  test("a stream of CHANGES goes on after its first version was expired, and its tag is gone") {
    assume(hasChanges, "CHANGES is new in Spark 4.2")
    for (start <- Seq("2", "'second'")) withClue(start) {
      val (table, checkpoint) = (filled(), freshDirectory())
      tableAt(table.path).tag(2, "second")
      val source = s"select * from stream ${table.name} changes from version $start"
      assert(
        sorted(all(spark.sql(source), checkpoint)) == sorted(table.toldBetween(2, table.last))
      )
      val before = table.last
      table.update(2, 0)
      tableAt(table.path).untag("second")
      expireTo(table.path, before)
      assert(
        sorted(all(spark.sql(source), checkpoint)) ==
          sorted(table.toldBetween(before + 1, table.last))
      )
      val refused = failure(all(spark.sql(source)))
      assert(refused.contains(if (start == "2") "2" else "second"), refused)
      assert(failure(spark.sql(source.replace("stream ", "")).collect()).nonEmpty)
      table.delete(3, 0)
      assert(
        sorted(all(spark.sql(source), checkpoint)) ==
          sorted(table.toldBetween(table.last, table.last))
      )
    }
  }

  test("defaults of the session for changes concern reads of a path that select nothing else") {
    val table = filled()
    val (sink, checkpoint) = (freshPath(), freshDirectory())
    val expected = sorted(table.toldBetween(2, 3))
    for (
      (defaults, rows) <- Seq(
        Seq("changesFrom" -> "2", "changesTo" -> "3") -> expected,
        Seq("changesFrom" -> "2", "changesTo" -> "3", "deduplicationMode" -> "netChanges") ->
          sorted(table.netBetween(2, 3)),
        Seq("changesTo" -> "3") -> Nil,
        Seq("deduplicationMode" -> "netChanges") -> Nil,
        Seq("changesToTimestamp" -> "2020-01-01") -> Nil,
        Seq("changesFromTimestamp" -> "2020-01-01", "changesTo" -> "3") ->
          sorted(table.toldBetween(0, 3))
      )
    ) withDefaults(defaults: _*)(withClue(defaults) {
      val loaded = read(table.path)
      if (rows.isEmpty) assert(loaded.count() == 4)
      else assert(sorted(changes(loaded)) == rows)
      assert(spark.table(table.name).count() == 4)
      assert(spark.table(s"zrecord.`${table.path}`").count() == 4)
      assert(sql(s"select count(*) from ${table.name} version as of 1").head.getLong(0) == 4)
      assert(read(table.path, "versionAsOf" -> "0").count() == 0)
      assert(read(table.path, "indices" -> "0").count() == 1)
      assert(read(table.path, "numPartitions" -> "1").count() == 4)
      assert(read(table.path, "view" -> "versions").count() > 0)
      assert(sql(s"select count(*) from ${table.name}.versions").head.getLong(0) == table.last + 1)
      val own = Seq("changesFrom" -> "5", "changesTo" -> "5", "deduplicationMode" -> "none")
      assert(told(table, own: _*) == sorted(table.toldBetween(5, 5)))
      write(spark.range(2).toDF("id"), freshPath(), "append")
      val path = freshPath()
      for (mode <- Seq("append", "overwrite", "append", "ignore"))
        write(spark.range(2).toDF("id"), path, mode)
      assert(spark.table(s"zrecord.`$path`").count() == 4)
      sql(s"insert into zrecord.`$path` values (7)")
      spark.range(1).toDF("id").writeTo(s"zrecord.`$path`").append()
      val stream = spark.readStream.format("zrecord").load(path)
      assert(!stream.columns.contains("_change_type"))
      run(writer(stream, freshDirectory()).start(freshPath()))
      run(writer(spark.readStream.table(table.name), checkpoint).start(sink))
    })
    assert(read(sink).count() == 4)
    withDefaults("deduplicationMode" -> "netChanges", "changesTo" -> "3")(
      assert(told(table, "changesFrom" -> "1") == sorted(table.netBetween(1, 3)))
    )
    withDefaults("changesTo" -> "1")(
      assert(
        told(
          table,
          "changesFrom" -> "2",
          "changesToTimestamp" -> timeOf(table, 3).toString
        ) == expected
      )
    )
    withDefaults("startingVersion" -> "0") {
      val time = timeOf(table, 3).toString
      assert(
        sorted(all(byName(table, "startingTimestamp" -> time))) == sorted(table.toldBetween(3, 5))
      )
    }
    assert(table.last == 5)
  }

  test("a default that makes streams those of changes concerns no view of a stream") {
    val table = filled()
    spark.readStream.table(table.name).createOrReplaceTempView("records_of_stream")
    byName(table).createOrReplaceTempView("changes_of_stream")
    withDefaults("readChanges" -> "true") {
      val records = spark.readStream.table("records_of_stream")
      val refused = failure(run(writer(records, freshDirectory()).start(freshPath())))
      assert(refused.contains("spark.datasource.zrecord.readChanges"), refused)
      assert(refused.contains("make it again"), refused)
      assert(
        sorted(all(spark.readStream.table("changes_of_stream"))) == sorted(initial(table, 5))
      )
    }
    val refused = failure(
      all(spark.readStream.option("readChanges", "true").table("records_of_stream"))
    )
    if (hasOptionsInSql) assert(refused.contains("view"), refused)
  }

  test("a field with the name of a column of changes is refused in any case") {
    for (name <- Seq("_Commit_Version", "_CHANGE_TYPE", "_commit_Timestamp")) {
      val path = freshPath()
      write(spark.range(3).selectExpr("id", s"id `$name`"), path, "append")
      for (
        frame <- Seq[() => Any](
          () => read(path, "changesFrom" -> "0").count(),
          () => spark.read.option("changesFrom", "0").table(s"zrecord.`$path`").count(),
          () => spark.readStream.format("zrecord").option("readChanges", "true").load(path)
        )
      ) {
        val refused = failure(frame())
        assert(refused.contains(s"'$name'") && refused.contains("rename"), refused)
      }
    }
  }

  test("as many tasks read changes as their bytes need, and none carries sizes of fields") {
    val table = new ChangedTable(random)
    for (_ <- 1 to 12) table.insert(1)
    table.update(2, 0)
    table.delete(2, 1)
    val last = table.last
    for (mode <- Seq("none", "netChanges")) {
      val frame = read(table.path, "changesFrom" -> "0", "deduplicationMode" -> mode)
      assert(frame.rdd.getNumPartitions <= 2, mode)
      assert(changes(frame).nonEmpty)
    }
    sql(
      s"insert into ${table.name} select id, 0, 0, repeat(md5(cast(id as string)), 1000)" +
        " from range(1000, 1512, 1, 1)"
    )
    val large = read(table.path, "changesFrom" -> s"${last + 1}")
    assert(large.rdd.getNumPartitions >= 1)
    for (part <- read(table.path, "changesFrom" -> "0").rdd.partitions) {
      val bytes = new java.io.ByteArrayOutputStream
      new java.io.ObjectOutputStream(bytes).writeObject(part)
      assert(bytes.size() < 60000, "14 small versions")
      assert(!bytes.toString("ISO-8859-1").contains("SizesById$"))
    }
  }

  /** Returns the sizes of what the batch that runs reads, by methods whose places differ. */
  private def leafSizes(query: StreamingQuery): Seq[BigInt] = {
    def of(owner: AnyRef, method: String): AnyRef = owner.getClass.getMethod(method).invoke(owner)
    val plan = of(of(of(query, "streamingQuery"), "lastExecution"), "optimizedPlan")
    plan.asInstanceOf[LogicalPlan].collectLeaves().map(_.stats.sizeInBytes)
  }

  test("the statistics of a stream are those of its batch") {
    val table = new ChangedTable(random)
    val source = spark.readStream.table(table.name)
    sql(
      s"insert into ${table.name} select id, 0, 0, repeat(md5(cast(id as string)), 300)" +
        " from range(0, 256, 1, 1)"
    )
    val checkpoint = freshDirectory()
    def sizes(frame: DataFrame): Seq[BigInt] = {
      val found = ArrayBuffer.empty[BigInt]
      val name = freshTable()
      run(
        withOptions(
          frame.writeStream.queryName(name).trigger(Trigger.AvailableNow()),
          "checkpointLocation" -> checkpoint
        ).foreachBatch { (batch: DataFrame, _: Long) =>
          batch.collect()
          found ++= leafSizes(spark.streams.active.find(_.name == name).get)
          ()
        }.start()
      )
      found.toSeq
    }
    val first = sizes(source)
    assert(first.size == 1 && first.head > 256 * 1000, first)
    table.insert(1)
    val next = sizes(spark.readStream.table(table.name))
    assert(next.size == 1 && next.head > 0 && next.head < 4096, next)
  }

  test("options within a WITH clause are obeyed, and those of its name are dropped by Spark") {
    assume(hasOptionsInSql, "a name in SQL takes options from Spark 4.0 on")
    val table = filled()
    val expected = sorted(table.toldBetween(2, 5))
    val within =
      s"with c as (select * from ${table.name} with (changesFrom = '2')) select * from c"
    assert(sorted(changes(spark.sql(within))) == expected)
    val beside = s"with c as (select 1) select * from ${table.name} with (changesFrom = '2')"
    assert(sorted(changes(spark.sql(beside))) == expected)
    val onName =
      spark.sql(s"with c as (select * from ${table.name}) select * from c with (changesFrom = '2')")
    assert(!onName.columns.contains("_change_type") && onName.count() == 4)
  }
}
