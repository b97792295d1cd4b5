package io.zrecord.spark

import java.nio.file.Paths

import scala.collection.JavaConverters._
import scala.collection.mutable.ArrayBuffer

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.rebalance.order.RecordOrder
import io.zrecord.schema.Identity
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}

/** Streams out of tables: each record that is added once, and nothing said of what is not. */
class StreamReadSuite extends StreamTables with NumberedTables with ExpiredVersions {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def table(path: String) = s"zrecord.`$path`"

  private def stream(path: String, options: (String, String)*): DataFrame =
    options
      .foldLeft(spark.readStream.format("zrecord")) { case (reader, (key, value)) =>
        reader.option(key, value)
      }
      .load(path)

  /** Appends records with the numbers, in so many shards. */
  private def add(path: String, from: Long, to: Long, shards: Int = 1): Unit =
    write(spark.range(from, to, 1, shards).toDF("id"), path, "append")

  /** Runs a stream to the end of what there is, and returns the first column of each batch. */
  private def batches(
      source: DataFrame,
      checkpoint: String,
      trigger: Trigger = Trigger.AvailableNow()
  )(onBatch: Long => Unit = _ => ()): Seq[Seq[Long]] = {
    val found = ArrayBuffer.empty[Seq[Long]]
    val query = withOptions(
      source.writeStream.trigger(trigger),
      "checkpointLocation" -> checkpoint
    ).foreachBatch { (batch: DataFrame, number: Long) =>
      val ids = batch.collect().map(_.getLong(0)).toSeq
      onBatch(number)
      found += ids
      ()
    }.start()
    try query.awaitTermination()
    finally query.stop()
    found.toSeq
  }

  private def all(source: DataFrame, checkpoint: String): Seq[Long] =
    batches(source, checkpoint)().flatten

  private def rebalance(path: String): Unit = {
    val before = tableAt(path).latest().version()
    Rebalance.of(spark, path).options(RebalanceOptions.defaults()).run()
    assert(tableAt(path).latest().version() > before, "nothing was rebalanced")
  }

  test("what there is comes first, then what is appended, each record once") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 10, 2)
    add(path, 10, 20, 2)
    assert(all(stream(path), checkpoint) == (0L until 20))
    assert(all(stream(path), checkpoint) == Nil)
    add(path, 20, 30, 3)
    add(path, 30, 35)
    assert(all(stream(path), checkpoint) == (20L until 35))
    assert(all(stream(path), checkpoint) == Nil)
  }

  test("a stream that goes on delivers what is appended while it runs") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 3)
    val sink = freshPath()
    val query = writer(stream(path), checkpoint).trigger(Trigger.ProcessingTime(0)).start(sink)
    try {
      query.processAllAvailable()
      for (k <- 1L to 3L) {
        add(path, 10 * k, 10 * k + 3)
        query.processAllAvailable()
        assert(read(sink).count() == 3 * (k + 1))
      }
    } finally query.stop()
    assert(rows(read(sink)) == rows(read(path)))
  }

  test("limits bound each batch, across shards and versions") {
    val path = freshPath()
    add(path, 0, 10, 2)
    add(path, 10, 20, 2)
    add(path, 20, 21)
    def sizes(options: (String, String)*): Seq[Int] = {
      val found = batches(stream(path, options: _*), freshDirectory())()
      assert(found.flatten == (0L until 21), options)
      found.map(_.size)
    }
    assert(sizes("maxRecordsPerTrigger" -> "8") == Seq(8, 8, 5))
    assert(sizes("maxShardsPerTrigger" -> "2") == Seq(10, 10, 1))
    assert(sizes("maxBytesPerTrigger" -> "1") == Seq.fill(21)(1))
    val start = "startingVersion" -> "0"
    assert(sizes(start, "maxRecordsPerTrigger" -> "8") == Seq(8, 8, 5))
    assert(sizes(start, "maxShardsPerTrigger" -> "3") == Seq(15, 6))
    val bytes = sizes(start, "maxBytesPerTrigger" -> "64")
    assert(bytes.dropRight(1).forall(size => size >= 7 && size <= 8), bytes)
    assert(sizes(start, "maxRecordsPerTrigger" -> "4", "maxShardsPerTrigger" -> "1").max == 4)
  }

  test("AvailableNow ends at the version that was the newest at the start") {
    for (start <- Seq(Nil, Seq("startingVersion" -> "0"))) {
      val (path, checkpoint) = (freshPath(), freshDirectory())
      add(path, 0, 10)
      val limited = stream(path, start :+ ("maxRecordsPerTrigger" -> "3"): _*)
      val found =
        batches(limited, checkpoint)(number => add(path, 100 + 10 * number, 105 + 10 * number))
      assert(found.map(_.size) == Seq(3, 3, 3, 1) && found.flatten == (0L until 10), start)
      assert(all(stream(path, start: _*), checkpoint).size == 20)
    }
  }

  /** Runs a stream whose driver dies in a batch, and returns the numbers and records of batches. */
  private def attempt(source: DataFrame, checkpoint: String, dies: Long): Seq[(Long, Seq[Long])] = {
    val found = ArrayBuffer.empty[(Long, Seq[Long])]
    val query = withOptions(
      source.writeStream.trigger(Trigger.AvailableNow()),
      "checkpointLocation" -> checkpoint
    ).foreachBatch { (batch: DataFrame, number: Long) =>
      found += number -> batch.collect().map(_.getLong(0)).toSeq
      if (number == dies) sys.error("the driver dies")
    }.start()
    try assert(failure(query.awaitTermination()).contains("the driver dies"))
    finally query.stop()
    found.toSeq
  }

  for (start <- Seq(Nil, Seq("startingVersion" -> "0")))
    test(
      s"a batch that was cut short has the same records again, whatever was done meanwhile: $start"
    ) {
      val (path, checkpoint) = (freshPath(), freshDirectory())
      add(path, 0, 10, 2)
      def limited = stream(path, start :+ ("maxRecordsPerTrigger" -> "4"): _*)
      val found = ArrayBuffer.empty[(Long, Seq[Long])]
      for ((dies, i) <- Seq(0L, 0L, 1L, 1L, 2L, 2L).zipWithIndex) {
        found ++= attempt(limited, checkpoint, dies)
        add(path, 100 + i, 101 + i)
        rebalance(path)
      }
      found ++= batches(limited, checkpoint)().zipWithIndex.map { case (ids, i) => (2L + i, ids) }
      val byNumber =
        found.groupBy(_._1).map { case (number, of) => number -> of.map(_._2).distinct }
      assert(byNumber.values.forall(_.size == 1), byNumber)
      assert(
        byNumber.toSeq.sortBy(_._1).flatMap(_._2.head) == (0L until 10) ++ (100L until 106)
      )
    }

  test("a batch whose end Spark forgot is delivered again, and no other") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 10)
    assert(all(stream(path), checkpoint) == (0L until 10))
    add(path, 10, 20)
    assert(all(stream(path), checkpoint) == (10L until 20))
    rebalance(path)
    forgetLastCommit(checkpoint)
    assert(all(stream(path), checkpoint) == (10L until 20))
  }

  test("versions that change no record deliver nothing, and lose nothing") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 6, 2)
    val limited = stream(path, "maxRecordsPerTrigger" -> "4")
    assert(attempt(limited, checkpoint, 1).map(_._2) == Seq(0L until 4, 4L until 6))
    rebalance(path)
    assert(all(limited, checkpoint) == (4L until 6))
    tableAt(path).tag(0, "first")
    sql(s"alter table ${table(path)} set tblproperties ('a' = 'b')")
    sql(s"alter table ${table(path)} add column label int")
    sql(s"alter table ${table(path)} rename column id to number")
    assert(all(stream(path), checkpoint) == Nil)
    sql(s"insert into ${table(path)} values (6, 1), (7, null)")
    rebalance(path)
    tableAt(path).untag("first")
    Relayout.of(spark, path, RecordOrder.shuffle(7)).run()
    sql(s"insert into ${table(path)} values (8, 1)")
    rebalance(path)
    assert(all(stream(path), checkpoint).sorted == Seq(6L, 7L, 8L))
    assert(all(stream(path), checkpoint) == Nil)

    val numbered = numberedTable(Identity.byDefault(1, 100, 1))
    val other = freshDirectory()
    assert(all(stream(numbered), other) == Nil)
    val unnumbered = spark.range(0, 3, 1, 1).selectExpr("'t' text", "cast(id as int) label")
    write(unnumbered, numbered, "append")
    assert(all(stream(numbered), other) == Seq(100L, 101L, 102L))
  }

  test("changes and deletions are refused with their versions, or left out") {
    for (
      (statement, operation) <- Seq(
        "delete from T where id = 3" -> "delete",
        "update T set id = 100 where id = 3" -> "update",
        "merge into T t using (select explode(array(3L, 50L)) as id) c on t.id = c.id when matched then delete" +
          " when not matched then insert *" -> "merge",
        "insert overwrite T select * from range(200, 203)" -> "overwrite",
        "truncate table T" -> "overwrite|delete"
      )
    ) {
      val (path, checkpoint) = (freshPath(), freshDirectory())
      add(path, 0, 10, 2)
      assert(all(stream(path), checkpoint).size == 10)
      add(path, 10, 12)
      sql(statement.replace("T", table(path)))
      add(path, 12, 14)
      val before = ArrayBuffer.empty[Long]
      val refused = failure {
        val query = withOptions(
          stream(path).writeStream.trigger(Trigger.AvailableNow()),
          "checkpointLocation" -> checkpoint
        ).foreachBatch { (batch: DataFrame, _: Long) =>
          before ++= batch.collect().map(_.getLong(0))
          ()
        }.start()
        query.awaitTermination()
      }
      assert(before == Seq(10L, 11L), "what came before the change is delivered")
      assert(refused.contains("version 2") && refused.contains("skipChangeCommits"), refused)
      assert(operation.split('|').exists(name => refused.contains(s"'$name'")), refused)
      assert(all(stream(path, "skipChangeCommits" -> "true"), checkpoint) == Seq(12L, 13L))
    }
  }

  test("a merge that only inserts is no change, and new values of any column are one") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 10)
    val held = stream(path)
    assert(all(held, checkpoint).size == 10)
    sql(
      s"merge into ${table(path)} t using (select * from range(9, 12)) c on t.id = c.id" +
        " when not matched then insert *"
    )
    assert(all(held, checkpoint).toSet == Set(10L, 11L))
    sql(s"alter table ${table(path)} add column label int")
    assert(all(held, checkpoint) == Nil)
    // Whatever columns a stream has: it may have others when a batch is read again.
    sql(s"update ${table(path)} set label = 5")
    assert(failure(all(held, checkpoint)).contains("skipChangeCommits"))
    assert(failure(all(stream(path), checkpoint)).contains("skipChangeCommits"))
    assert(all(stream(path, "skipChangeCommits" -> "true"), checkpoint) == Nil)
    add2(path, 12)
    assert(all(held, checkpoint) == Seq(12L))
  }

  test("a first batch that is read again begins where it began, whatever the options say then") {
    for (
      (options, first) <- Seq(
        Seq("startingVersion" -> "1") -> Seq(1L, 2L, 3L),
        Seq("startingVersion" -> "latest") -> Nil,
        Seq.empty[(String, String)] -> (0L to 3L)
      );
      others <- Seq(Seq.empty, Seq("startingVersion" -> "3"), Seq("startingVersion" -> "latest"))
    ) withClue(s"$options, then $others") {
      val (path, checkpoint) = (freshPath(), freshDirectory())
      for (k <- 0L to 3L) add(path, k, k + 1)
      assert(all(stream(path, options: _*), checkpoint) == first)
      java.nio.file.Files.list(java.nio.file.Paths.get(checkpoint, "commits")).forEach { file =>
        java.nio.file.Files.delete(file)
      }
      add(path, 4, 5)
      assert(all(stream(path, others: _*), checkpoint) == first ++ Seq(4L))
    }
  }

  test("limits of records and shards are numbers") {
    val path = freshPath()
    add(path, 0, 3)
    for (key <- Seq("maxRecordsPerTrigger", "maxShardsPerTrigger"))
      assert(failure(all(stream(path, key -> "1k"), freshDirectory())).contains(key))
  }

  private def add2(path: String, id: Long): Unit =
    sql(s"insert into ${table(path)} values ($id, 1)")

  test("a stream starts where its options say") {
    val path = freshPath()
    for (k <- 0L to 3L) add(path, k, k + 1)
    def found(options: (String, String)*) = all(stream(path, options: _*), freshDirectory())
    assert(found() == (0L to 3L))
    for (k <- 0L to 3L) {
      assert(found("startingVersion" -> k.toString) == (k to 3L))
      val time = tableAt(path).version(k).timestamp().toString
      assert(found("startingTimestamp" -> time) == (k to 3L))
    }
    assert(found("startingTimestamp" -> "2001-01-01") == (0L to 3L))
    val checkpoint = freshDirectory()
    assert(all(stream(path, "startingVersion" -> "latest"), checkpoint) == Nil)
    add(path, 4, 6)
    assert(all(stream(path, "startingVersion" -> "latest"), checkpoint) == Seq(4L, 5L))
    for (
      (options, expected) <- Seq(
        Seq("startingVersion" -> "99") -> "the newest version is 4",
        Seq("startingVersion" -> "soon") -> "startingVersion",
        Seq("startingVersion" -> "-1") -> "startingVersion",
        Seq("startingTimestamp" -> "2999-01-01") -> "newest version, 4",
        Seq("startingTimestamp" -> "noon") -> "startingTimestamp",
        Seq("startingVersion" -> "1", "startingTimestamp" -> "2001-01-01") -> "exclude each other"
      )
    ) {
      val refused = failure(found(options: _*))
      assert(refused.contains(expected), refused)
    }
  }

  test("a version that was expired is named with the remedy, and a tag keeps it") {
    val (path, checkpoint, tagged) = (freshPath(), freshDirectory(), freshDirectory())
    add(path, 0, 3)
    assert(all(stream(path), checkpoint) == (0L until 3))
    assert(all(stream(path), tagged) == (0L until 3))
    add(path, 3, 6)
    add(path, 6, 9)
    expireTo(path, 2)
    val refused = failure(all(stream(path), checkpoint))
    assert(refused.contains("version 0, which was expired"), refused)
    assert(refused.contains("tag") && refused.contains("new checkpoint"), refused)
    assert(all(stream(path), freshDirectory()) == (0L until 9))
    val start = failure(all(stream(path, "startingVersion" -> "1"), freshDirectory()))
    assert(start.contains("expired"), start)
    val time = failure(all(stream(path, "startingTimestamp" -> "2001-01-01"), freshDirectory()))
    assert(time.contains("expired"), time)

    val kept = freshPath()
    add(kept, 0, 3)
    val other = freshDirectory()
    assert(all(stream(kept), other) == (0L until 3))
    add(kept, 3, 6)
    Seq(0L, 1L).foreach(version => tableAt(kept).tag(version, s"stream-$version"))
    expireTo(kept, tableAt(kept).latest().version())
    val rest = all(stream(kept), other)
    assert(rest == (3L until 6))
  }

  test("another table at the path, and one that was put back, are told") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 3)
    add(path, 3, 6)
    assert(all(stream(path), checkpoint).size == 6)
    val other = freshPath()
    add(other, 0, 3)
    assert(failure(all(stream(other), checkpoint)).contains("another table"))
    val name = freshTable()
    sql(s"create table lake.$name as select * from range(3)")
    val named = freshDirectory()
    assert(all(spark.readStream.table(s"lake.$name"), named).size == 3)
    sql(s"drop table lake.$name")
    sql(s"create table lake.$name as select * from range(3)")
    val refused = failure(all(spark.readStream.table(s"lake.$name"), named))
    assert(refused.contains("another table"), refused)
  }

  test("an offset says what it is, and a foreign one is refused") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    add(path, 0, 3)
    all(stream(path), checkpoint)
    val log = numbered(checkpoint, "offsets").head
    val text = new String(java.nio.file.Files.readAllBytes(log), "UTF-8")
    val offset = text.linesIterator.toSeq.last
    assert(offset.startsWith("""{"zrecord":1,"at":"end","table":""""), offset)
    for (forged <- Seq("""{"topic":{"0":5}}""", offset.replace(":1,", ":2,"), "7")) {
      val damaged = freshDirectory()
      numbered(checkpoint, "offsets")
      copy(Paths.get(checkpoint), Paths.get(damaged))
      val file = numbered(damaged, "offsets").head
      java.nio.file.Files.write(file, text.replace(offset, forged).getBytes("UTF-8"))
      java.nio.file.Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      val refused = failure(all(stream(path), damaged))
      assert(refused.contains("no position of this release"), refused)
    }
  }

  private def copy(from: java.nio.file.Path, to: java.nio.file.Path): Unit = {
    import java.nio.file.{Files, StandardCopyOption}
    val files = Files.walk(from)
    try
      files.iterator().asScala.toSeq.foreach { file =>
        val target = to.resolve(from.relativize(file))
        if (Files.isDirectory(file)) Files.createDirectories(target)
        else Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING)
      }
    finally files.close()
  }

  test("options of other reads are refused by a stream, and those of streams by other reads") {
    val path = freshPath()
    add(path, 0, 3)
    for (
      (key, value) <- Seq(
        "versionAsOf" -> "0",
        "timestampAsOf" -> "2999-01-01",
        "tag" -> "t",
        "indices" -> "1",
        "sampler" -> "shuffle",
        "numPartitions" -> "2",
        "globPaths" -> "false",
        "statistics" -> "false",
        "view" -> "history",
        "bogus" -> "1"
      )
    ) {
      val refused = failure(all(stream(path, key -> value), freshDirectory()))
      assert(refused.contains(key), refused)
    }
    for (
      (key, value) <- Seq(
        "maxRecordsPerTrigger" -> "0",
        "maxBytesPerTrigger" -> "many",
        "maxShardsPerTrigger" -> "-1",
        "skipChangeCommits" -> "perhaps"
      )
    ) {
      val refused = failure(all(stream(path, key -> value), freshDirectory()))
      assert(refused.contains(s"Option $key"), refused)
      val read1 = failure(read(path, key -> value).collect())
      assert(read1.contains(s"Option $key is of streams"), read1)
      assert(failure(read(path, key -> value).count()).contains(s"Option $key is of streams"))
    }
    assert(
      all(
        stream(path, "verify" -> "always", "batchRows" -> "2", "batchBytes" -> "1k"),
        freshDirectory()
      ) == (0L until 3)
    )
    spark.conf.set("spark.datasource.zrecord.maxRecordsPerTrigger", "2")
    try {
      assert(read(path).count() == 3)
      assert(batches(stream(path), freshDirectory())().map(_.size) == Seq(2, 1))
    } finally spark.conf.unset("spark.datasource.zrecord.maxRecordsPerTrigger")
    spark.conf.set("spark.datasource.zrecord.numPartitions", "2")
    try assert(all(stream(path), freshDirectory()) == (0L until 3))
    finally spark.conf.unset("spark.datasource.zrecord.numPartitions")
    for ((key, value) <- Seq("versionAsOf" -> "0", "indices" -> "1")) {
      spark.conf.set(s"spark.datasource.zrecord.$key", value)
      try assert(failure(all(stream(path), freshDirectory())).contains("defaults"))
      finally spark.conf.unset(s"spark.datasource.zrecord.$key")
    }
  }

  test("a stream keeps its columns, and says which column was dropped") {
    val (path, checkpoint) = (freshPath(), freshDirectory())
    write(spark.range(0, 3, 1, 1).selectExpr("id", "cast(id as int) label"), path, "append")
    val held = stream(path)
    def rows(source: DataFrame): Seq[Row] = {
      val found = ArrayBuffer.empty[Row]
      val query = withOptions(
        source.writeStream.trigger(Trigger.AvailableNow()),
        "checkpointLocation" -> checkpoint
      ).foreachBatch { (batch: DataFrame, _: Long) => found ++= batch.collect(); () }.start()
      try query.awaitTermination()
      finally query.stop()
      found.toSeq
    }
    assert(rows(held).size == 3)
    sql(s"alter table ${table(path)} add column text string default 'none'")
    sql(s"insert into ${table(path)} values (3, 3, 'new')")
    assert(rows(held) == Seq(Row(3L, 3)))
    sql(s"insert into ${table(path)} values (4, 4, 'new')")
    sql(s"alter table ${table(path)} rename column label to number")
    assert(rows(held) == Seq(Row(4L, 4)))
    sql(s"insert into ${table(path)} values (5, 5, 'new')")
    assert(rows(stream(path)) == Seq(Row(5L, 5, "new")))
    sql(s"alter table ${table(path)} drop column number")
    sql(s"insert into ${table(path)} values (6, 'new')")
    val refused = failure(rows(held))
    assert(refused.contains("'label' was dropped in version"), refused)
    assert(rows(stream(path)) == Seq(Row(6L, "new")))
  }

  test("records from before a column was added have its default in a stream of later columns") {
    val path = freshPath()
    add(path, 0, 2)
    sql(s"alter table ${table(path)} add column text string default 'none'")
    sql(s"insert into ${table(path)} values (2, 'new')")
    val sink = freshPath()
    run(writer(stream(path, "startingVersion" -> "0"), freshDirectory()).start(sink))
    assert(
      read(sink).orderBy("id").collect().toSeq ==
        Seq(Row(0L, "none"), Row(1L, "none"), Row(2L, "new"))
    )
  }

  test(
    "metadata columns are those of the version, or are refused where Spark does not ask for them"
  ) {
    val path = freshPath()
    add(path, 10, 13)
    add(path, 13, 15)
    def found: Seq[Row] = {
      val rows = ArrayBuffer.empty[Row]
      val source = stream(path, "startingVersion" -> "0").select("_index", "id", "_shard")
      val query = withOptions(
        source.writeStream.trigger(Trigger.AvailableNow()),
        "checkpointLocation" -> freshDirectory()
      ).foreachBatch { (batch: DataFrame, _: Long) => rows ++= batch.collect(); () }.start()
      try query.awaitTermination()
      finally query.stop()
      rows.toSeq
    }
    if (spark.version >= "4.2")
      assert(
        found == Seq((0, 10, 0), (1, 11, 0), (2, 12, 0), (3, 13, 3), (4, 14, 3)).map {
          case (index, id, shard) => Row(index.toLong, id.toLong, shard.toLong)
        }
      )
    else {
      val refused = failure(found)
      val word = if (spark.version >= "4") "metadata columns of a stream" else "_index"
      assert(refused.contains(word), refused)
    }
  }

  test("a table streams into another by names and by paths, partitioned, with nested values") {
    val (name, sink, checkpoint) = (freshTable(), freshTable(), freshDirectory())
    sql(
      s"create table lake.$name (id bigint, day string, tags array<string>," +
        " place struct<x:int,y:double>) using zrecord partitioned by (day)"
    )
    def insert(from: Int): Unit = sql(
      s"insert into lake.$name select id, concat('d', id % 3), array('a', cast(id as string))," +
        s" named_struct('x', cast(id as int), 'y', id / 2.0D) from range($from, ${from + 10})"
    )
    sql(
      s"create table lake.$sink like lake.$name".replace(
        s" like lake.$name",
        " (id bigint, day string, tags array<string>, place struct<x:int,y:double>)" +
          " using zrecord partitioned by (day)"
      )
    )
    for (k <- 0 until 3) {
      insert(k * 10)
      run(writer(spark.readStream.table(s"lake.$name"), checkpoint).toTable(s"lake.$sink"))
      assert(
        sql(s"select * from lake.$sink order by id") == sql(s"select * from lake.$name order by id")
      )
      forgetLastCommit(checkpoint)
    }
    assert(
      all(spark.readStream.table(s"lake.$name").where("day = 'd1'"), freshDirectory()).size == 10
    )
    val sums = freshPath()
    run(
      writer(spark.readStream.table(s"lake.$name").groupBy("day").count(), freshDirectory())
        .outputMode("complete")
        .start(sums)
    )
    assert(read(sums).selectExpr("sum(count)").collect().toSeq == Seq(Row(30L)))
  }

  test("what is no single table is refused") {
    val (path, other) = (freshPath(), freshPath())
    val missing = failure(all(stream(path), freshDirectory()))
    assert(missing.contains(path), missing)
    add(path, 0, 3)
    add(other, 0, 3)
    val several = failure(
      all(stream(path, "paths" -> s"""["$path","$other"]"""), freshDirectory())
    )
    assert(several.contains("path"), several)
    val empty = freshPath()
    add(empty, 0, 0)
    val checkpoint = freshDirectory()
    assert(all(stream(empty), checkpoint) == Nil)
    add(empty, 0, 3)
    assert(all(stream(empty), checkpoint) == (0L until 3))
  }

  test("small versions share a task") {
    val path = freshPath()
    for (k <- 0L until 12) add(path, k, k + 1)
    var parts = 0
    val query = withOptions(
      stream(path, "startingVersion" -> "0").writeStream.trigger(Trigger.AvailableNow()),
      "checkpointLocation" -> freshDirectory()
    ).foreachBatch { (batch: DataFrame, _: Long) => parts += batch.rdd.getNumPartitions; () }
      .start()
    try query.awaitTermination()
    finally query.stop()
    assert(parts == 1)
  }
}
