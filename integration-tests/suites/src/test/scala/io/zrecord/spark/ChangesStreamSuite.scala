package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer

import io.zrecord.internal.shard.OpenShards
import io.zrecord.table.{MergeChange, RowChange}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}

/** Streams of what versions changed: each change once, so that a copy follows the table. */
class ChangesStreamSuite extends ChangedStreams with PySparkSessions {
  test("a stream begins with all records as insertions, and goes on with what versions change") {
    for (open <- Seq[ChangedTable => DataFrame](byPath(_), byName(_))) {
      val (table, checkpoint) = (filled(), freshDirectory())
      assert(
        open(table).columns.toSeq.takeRight(3) ==
          Seq("_change_type", "_commit_version", "_commit_timestamp")
      )
      assert(sorted(all(open(table), checkpoint)) == sorted(initial(table, 5)))
      assert(all(open(table), checkpoint) == Nil)
      table.delete(3, 1)
      table.insert(2)
      table.overwrite(3)
      assert(sorted(all(open(table), checkpoint)) == sorted(table.toldBetween(6, 8)))
      assert(all(open(table), checkpoint) == Nil)
    }
  }

  test("a stream starts where its options say") {
    val table = filled()
    for (version <- 0L to 6L)
      assert(
        sorted(all(byPath(table, "startingVersion" -> s"$version"))) ==
          sorted(table.toldBetween(version, 5))
      )
    for (version <- 1L to 5L) {
      val time = tableAt(table.path).version(version).timestamp().toString
      assert(
        sorted(all(byName(table, "startingTimestamp" -> time))) ==
          sorted(table.toldBetween(version, 5))
      )
    }
    for (isNamed <- Seq(true, false)) {
      val (checkpoint, last) = (freshDirectory(), table.last)
      val start = "startingVersion" -> (if (isNamed) s"${last + 1}" else "latest")
      assert(all(byPath(table, start), checkpoint) == Nil)
      table.update(2, 0)
      assert(
        sorted(all(byPath(table, start), checkpoint)) ==
          sorted(table.toldBetween(last + 1, table.last))
      )
    }
    assert(failure(all(byPath(table, "startingVersion" -> "99"))).contains("the newest version is"))
  }

  test("after each batch of a version, the copy is what the table was then") {
    val table = filled()
    val found =
      batches(
        byName(table, "startingVersion" -> "0", "maxVersionsPerTrigger" -> "1"),
        freshDirectory()
      )()
    assert(found.size == 4, "versions that change records")
    var copy = Map.empty[Long, Rec]
    for ((_, rows) <- found) {
      copy = applied(copy, rows)
      val told = rows.map(_._2).distinct
      assert(told.size == 1 && copy == table.versions(told.head.toInt))
    }
    assert(copy == table.versions.last)
  }

  test("limits bound batches, and divide no version that changed or deleted records") {
    val table = new ChangedTable(random)
    table.insert(10)
    table.update(5, 0)
    table.update(5, 1)
    table.delete(2, 0)
    table.insert(7)
    def sizes(options: (String, String)*): Seq[Int] = {
      val found =
        batches(byPath(table, ("startingVersion" -> "0") +: options: _*), freshDirectory())()
      assert(sorted(found.flatMap(_._2)) == sorted(table.toldBetween(0, 5)))
      found.map(_._2.size)
    }
    assert(sizes() == Seq(10 + 4 + 4 + 5 + 7))
    assert(sizes("maxRecordsPerTrigger" -> "4") == Seq(4, 4, 2, 4, 4, 5, 4, 3))
    assert(sizes("maxVersionsPerTrigger" -> "2") == Seq(14, 9, 7))
    assert(sizes("maxVersionsPerTrigger" -> "2", "maxRecordsPerTrigger" -> "12") == Seq(10, 8, 12))
    assert(sizes("maxShardsPerTrigger" -> "1").size >= 5)
    val initial = batches(byPath(table, "maxRecordsPerTrigger" -> "5"), freshDirectory())()
    assert(initial.map(_._2.size) == Seq(5, 5, 2))
  }

  test("AvailableNow ends at the version that was the newest at the start") {
    val (table, checkpoint) = (filled(), freshDirectory())
    val limited = byPath(table, "startingVersion" -> "0", "maxVersionsPerTrigger" -> "1")
    val found = batches(limited, checkpoint)(_ => table.update(2, 0))
    assert(sorted(found.flatMap(_._2)) == sorted(table.toldBetween(0, 5)))
    assert(sorted(all(limited, checkpoint)) == sorted(table.toldBetween(6, table.last)))
  }

  test("a stream that goes on delivers what is changed while it runs, and merges into a copy") {
    val table = new ChangedTable(random)
    val copy = s"lake.${freshTable()}"
    sql(s"create table $copy (id bigint, part int, label int, text string) using zrecord")
    val query = withOptions(
      byName(table).writeStream.trigger(Trigger.ProcessingTime(0)),
      "checkpointLocation" -> freshDirectory()
    ).foreachBatch { (batch: DataFrame, _: Long) =>
      batch.createOrReplaceTempView("changed_records")
      batch.sparkSession.sql(
        s"""merge into $copy t using (
           |  select * from (select *, row_number() over (partition by id order by _commit_version desc,
           |    _change_type in ('insert', 'update_postimage') desc) n from changed_records) where n = 1
           |) c on t.id = c.id
           |when matched and c._change_type in ('delete', 'update_preimage') then delete
           |when matched then update set part = c.part, label = c.label, text = c.text
           |when not matched and c._change_type in ('insert', 'update_postimage')
           |  then insert (id, part, label, text) values (c.id, c.part, c.label, c.text)""".stripMargin
      )
      ()
    }.start()
    try
      for (
        statement <- Seq[() => Unit](
          () => table.insert(6),
          () => table.update(2, 1),
          () => table.delete(3, 0),
          () => { table.move(2, 0, 5); table.merge(4, 6); table.rebalance() }
        )
      ) {
        statement()
        query.processAllAvailable()
        val found = sql(s"select * from $copy")
          .map(row => Rec(row.getLong(0), row.getInt(1), row.getInt(2), row.getString(3)))
        assert(found.toSet == table.versions.last.values.toSet)
      }
    finally query.stop()
  }

  test("columns are those of the opening: added ones are not read, and dropped ones are told") {
    val (table, checkpoint) = (filled(), freshDirectory())
    val held = byPath(table)
    assert(all(held, checkpoint).size == 4)
    sql(s"alter table ${table.name} add column late int default 7")
    sql(s"update ${table.name} set late = 8, label = 9 where id = 0")
    val before = table.versions.last(0)
    assert(
      sorted(all(held, checkpoint)) ==
        Seq(("update_postimage", 7L, before.copy(label = 9)), ("update_preimage", 7L, before))
    )
    sql(s"alter table ${table.name} rename column text to words")
    sql(s"update ${table.name} set label = 10 where id = 0")
    assert(all(held, checkpoint).map(_._3.text).distinct == Seq(before.text))
    sql(s"update ${table.name} set label = 11 where id = 0")
    def rows(options: (String, String)*): Seq[Row] = {
      val rows = ArrayBuffer.empty[Row]
      run(
        withOptions(
          byName(table, options: _*)
            .selectExpr("_change_type", "id", "label", "words", "late")
            .writeStream
            .trigger(Trigger.AvailableNow()),
          "checkpointLocation" -> checkpoint
        ).foreachBatch { (batch: DataFrame, _: Long) => rows ++= batch.collect(); () }.start()
      )
      rows.toSeq.sortBy(_.toString)
    }
    assert(
      rows() == Seq(
        Row("update_postimage", 0L, 11, before.text, 8),
        Row("update_preimage", 0L, 10, before.text, 8)
      )
    )
    sql(s"alter table ${table.name} drop column words")
    assert(all(held, checkpoint) == Nil, "a version that changes no record")
    sql(s"delete from ${table.name} where id = 0")
    val refused = failure(all(held, checkpoint))
    assert(refused.contains("field 'text' was dropped in version"), refused)
    assert(refused.contains("make its data frame again"), refused)
    sql(s"alter table ${table.name} add column words string default 'none'")
    assert(rows() == Seq(Row("delete", 0L, 11, "none", 8)))
  }

  test("a version that was expired is named with the remedy, and so is the one before") {
    val (table, checkpoint) = (filled(), freshDirectory())
    assert(all(byPath(table, "startingVersion" -> "0"), checkpoint).nonEmpty)
    table.update(2, 0)
    table.update(2, 1)
    expireTo(table.path, 7)
    val refused = failure(all(byPath(table), checkpoint))
    assert(refused.contains("which was expired") && refused.contains("new checkpoint"), refused)
    for (version <- Seq("3", "6", "7")) {
      val start = failure(all(byPath(table, "startingVersion" -> version)))
      assert(start.contains(s"with version $version: it needs this version"), start)
      assert(start.contains("startingVersion=8") && !start.contains("new checkpoint"), start)
    }
    assert(sorted(all(byPath(table))) == sorted(initial(table, 7)).map(_.copy(_2 = table.last)))
  }

  test("a default of the session makes all streams those of changes, and no other read") {
    val table = filled()
    spark.conf.set("spark.datasource.zrecord.readChanges", "true")
    try {
      assert(spark.table(table.name).count() == 4 && read(table.path).count() == 4)
      val streams = Seq(
        spark.readStream.format("zrecord").load(table.path),
        spark.readStream.table(table.name)
      )
      for (stream <- streams)
        assert(sorted(all(stream)) == sorted(initial(table, 5)))
      val records = spark.readStream.option("readChanges", "false").table(table.name)
      assert(!records.columns.contains("_change_type"))
      val sink = freshPath()
      for (checkpoint <- Seq.fill(2)(freshLocalPath()))
        run(writer(records, checkpoint).start(sink))
      assert(read(sink).count() == 8, "a default of reads is none of sinks")
    } finally spark.conf.unset("spark.datasource.zrecord.readChanges")
  }

  test("a session without zrecord's extension reads changes by path, and by name or not at all") {
    val table = filled()
    inPySpark { session =>
      configuration.foreach { case (key, value) => session.conf.set(key, value) }
      def named: Seq[Change] =
        changes(session.read.option("changesFrom", "2").table(table.name)) ++
          all(session.readStream.option("readChanges", "true").table(table.name))
      val path = session.read.format("zrecord").option("changesFrom", "2").load(table.path)
      val stream = session.readStream.format("zrecord").option("readChanges", "true")
      val found = changes(path) ++ all(stream.load(table.path))
      assert(sorted(found) == sorted(table.toldBetween(2, 5) ++ initial(table, 5)))
      if (hasOptionsInSql) assert(sorted(named) == sorted(found))
      else
        for (
          frame <- Seq(
            session.read.option("changesFrom", "2").table(table.name),
            session.readStream.option("readChanges", "true").table(table.name)
          )
        ) {
          val refused = failure(
            if (frame.isStreaming) run(writer(frame, freshDirectory()).start(freshPath()))
            else frame.collect()
          )
          assert(refused.contains("ZRecordSessionExtensions"), refused)
        }
    }
  }

  test("a version that does not say what it changed ends the stream after what came before") {
    val (table, checkpoint) = (filled(), freshDirectory())
    assert(all(byPath(table), checkpoint).nonEmpty)
    table.insert(2)
    // As a version says of itself if very many records of a shard were deleted.
    val deletion = RowChange.of(tableAt(table.path).latest())
    deletion.property(MergeChange.REWRITTEN_SHARDS, "1")
    deletion.delete(0)
    deletion.commit()
    val before = ArrayBuffer.empty[Change]
    val refused = failure(
      run(
        withOptions(
          byPath(table).selectExpr(columns: _*).writeStream.trigger(Trigger.AvailableNow()),
          "checkpointLocation" -> checkpoint
        ).foreachBatch { (batch: DataFrame, _: Long) =>
          before ++= batch.collect().map(change)
          ()
        }.start()
      )
    )
    assert(sorted(before.toSeq) == sorted(table.toldBetween(6, 6)))
    assert(refused.contains("version 7") && refused.contains("new checkpoint"), refused)
    assert(all(byPath(table)).size == table.versions.last.size - 1)
  }

  test("nothing is read of records that did not change") {
    val (table, checkpoint) = (new ChangedTable(random), freshDirectory())
    table.insert(4)
    assert(all(byPath(table), checkpoint).size == 4)
    for (chunk <- filesOf(table.path).names.filter(_.endsWith(".zr")))
      filesOf(table.path).cut(chunk)
    OpenShards.shared().clear()
    assert(failure(spark.table(table.name).collect()).nonEmpty, "the control")
    table.insert(3)
    assert(sorted(all(byPath(table), checkpoint)) == sorted(table.toldBetween(2, 2)))
  }

  test("a checkpoint of records is none of changes, and options that do not go are refused") {
    val (table, ofRecords, ofChanges) = (filled(), freshDirectory(), freshDirectory())
    def records = spark.readStream.format("zrecord").load(table.path)
    run(writer(records, ofRecords).start(freshPath()))
    assert(all(byPath(table), ofChanges).nonEmpty)
    table.insert(1)
    assert(failure(all(byPath(table), ofRecords)).contains("readChanges=false"))
    val other = failure(run(writer(records, ofChanges).start(freshPath())))
    assert(other.contains("readChanges=true"), other)
    for (
      ((key, value), words) <- Seq(
        ("maxBytesPerTrigger" -> "1m") -> Seq("maxBytesPerTrigger", "'1m'", "maxRecordsPerTrigger"),
        ("skipChangeCommits" -> "true") -> Seq("skipChangeCommits", "'true'", "leave one"),
        ("maxVersionsPerTrigger" -> "0") -> Seq("maxVersionsPerTrigger", "'0'", "at least 1"),
        ("readChanges" -> "perhaps") -> Seq("readChanges", "'perhaps'", "true or false"),
        ("changesFrom" -> "1") -> Seq("changesFrom"),
        ("deduplicationMode" -> "netChanges") -> Seq("deduplicationMode"),
        ("numPartitions" -> "1") -> Seq("numPartitions"),
        ("bogus" -> "1") -> Seq("bogus")
      );
      open <- Seq[((String, String)) => DataFrame](byPath(table, _), byName(table, _))
    ) {
      val refused = failure(all(open(key -> value)))
      words.foreach(word => assert(refused.contains(word), refused))
    }
    val schema = failure(all(reader(Nil).schema("id bigint").load(table.path)))
    assert(schema.contains("leave schema"), schema)
    assert(failure(all(byPath(table, "versionAsOf" -> "1"))).contains("versionAsOf"))
    val some = spark.readStream.format("zrecord").option("changesFrom", "1").load(table.path)
    assert(failure(all(some)).contains("changesFrom"))
    assert(all(byPath(table, "readChanges" -> "TRUE")).nonEmpty)
  }

  test("CHANGES as a stream is the same stream, and what it cannot do is refused") {
    assume(hasChanges, "CHANGES is new in Spark 4.2")
    val table = filled()
    tableAt(table.path).tag(2, "second")
    def ofSql(range: String) = spark.sql(s"select * from stream ${table.name} changes $range")
    def told(from: Long) = sorted(table.toldBetween(from, 5))
    assert(sorted(all(ofSql(""))) == sorted(initial(table, 5)).map(_.copy(_2 = 6L)))
    assert(sorted(all(ofSql("from version 2"))) == told(2))
    assert(sorted(all(ofSql("from version 2 exclusive"))) == told(3))
    assert(sorted(all(ofSql("from version 'second' exclusive"))) == told(3))
    val time = tableAt(table.path).version(3).timestamp()
    assert(sorted(all(ofSql(s"from timestamp '$time'"))) == told(3))
    val called = spark.readStream.getClass.getMethod("changes", classOf[String])
    def stream(options: (String, String)*): DataFrame = called
      .invoke(
        options.foldLeft(spark.readStream) { case (made, (key, value)) => made.option(key, value) },
        table.name
      )
      .asInstanceOf[DataFrame]
    val checkpoint = freshDirectory()
    val limited = stream("startingVersion" -> "0", "maxVersionsPerTrigger" -> "1")
    assert(batches(limited, checkpoint, dies = 1)().map(_._1) == Seq(0L, 1L))
    val rest = batches(limited, checkpoint)().filter(_._2.nonEmpty)
    assert(rest.map(_._1) == Seq(1L, 2L, 3L))
    assert(sorted(rest.flatMap(_._2)) == told(2))
    for (
      (options, word) <- Seq(
        Seq("deduplicationMode" -> "netChanges") -> "net changes",
        Seq("startingVersion" -> "1", "endingVersion" -> "2") -> "endingVersion",
        Seq("maxBytesPerTrigger" -> "1m") -> "maxBytesPerTrigger"
      )
    ) assert(failure(all(stream(options: _*))).contains(word), options)
    val unbounded = spark.read.getClass.getMethod("changes", classOf[String])
    val refused =
      failure(unbounded.invoke(spark.read, table.name).asInstanceOf[DataFrame].collect())
    assert(refused.contains("without an end"), refused)
    val counted = failure(
      unbounded
        .invoke(spark.read.option("startingVersion", "1").option("numPartitions", "3"), table.name)
        .asInstanceOf[DataFrame]
        .collect()
    )
    assert(counted.contains("numPartitions"), counted)
  }
}
