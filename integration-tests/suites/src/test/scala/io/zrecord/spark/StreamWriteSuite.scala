package io.zrecord.spark

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.collection.JavaConverters._

import io.zrecord.errors.{CommitOutcomeUnknownException, StorageException}
import io.zrecord.schema.{Constraint, Identity}
import io.zrecord.table.DeclarationChange
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}

/** Streams into tables: each record once, whatever happens. */
class StreamWriteSuite extends StreamTables with NumberedTables {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName,
    "spark.sql.catalog.faulty" -> classOf[FaultyCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def ids(path: String): Seq[Long] = rows(read(path)).map(_.getAs[Long]("id"))

  private def append(
      source: DataFrame,
      checkpoint: String,
      path: String,
      options: (String, String)*
  ): Unit =
    run(writer(source, checkpoint, options: _*).start(path))

  private def toTable(
      source: DataFrame,
      checkpoint: String,
      table: String,
      options: (String, String)*
  ): Unit =
    run(writer(source, checkpoint, options: _*).toTable(table))

  test("batches are appended to a table that the first of them creates, each as one version") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    addIds(input, 0L until 10)
    addIds(input, 10L until 20)
    append(lines(input, "id long"), checkpoint, path)
    assert(ids(path) == (0L until 20))
    assert(tableAt(path).latest().version() == 1)
    addIds(input, 20L until 30)
    append(lines(input, "id long"), checkpoint, path)
    assert(ids(path) == (0L until 30))
    val applications = tableAt(path).latest().transactions()
    assert(applications.size() == 1 && applications.values().iterator().next() == 2)
    assert(applications.keySet().iterator().next().startsWith("spark-stream-"))
  }

  test("a batch that was committed, which Spark forgot, adds nothing when it runs again") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    addIds(input, 0L until 10)
    addIds(input, 10L until 20)
    append(lines(input, "id long"), checkpoint, path)
    val (version, files) = (tableAt(path).latest().version(), filesOf(path).names)
    forgetLastCommit(checkpoint)
    append(lines(input, "id long"), checkpoint, path)
    assert(ids(path) == (0L until 20))
    assert(tableAt(path).latest().version() == version)
    assert(filesOf(path).names == files, "what the second run wrote was not deleted")
    addIds(input, 20L until 30)
    append(lines(input, "id long"), checkpoint, path)
    assert(ids(path) == (0L until 30))
  }

  test("a stream whose tasks fail goes on where it was") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    addIds(input, 0L until 10)
    append(lines(input, "id long"), checkpoint, path)
    val files = filesOf(path).names
    addIds(input, 10L until 20)
    val failing = lines(input, "id long").select(StreamWriteSuite.failing(col("id")).as("id"))
    StreamWriteSuite.fails.set(true)
    try assert(failure(append(failing, checkpoint, path)).contains("record 15 fails"))
    finally StreamWriteSuite.fails.set(false)
    assert(eventually(filesOf(path).names == files))
    append(failing, checkpoint, path)
    assert(ids(path) == (0L until 20))
  }

  testLocally("a commit that fails, or whose outcome stays unknown, is done once afterwards") {
    for (isPublished <- Seq(true, false)) {
      val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshLocalPath())
      write(spark.range(0, 10, 1, 1).toDF("id"), path, "append")
      addIds(input, 10L until 20)
      val (isFaulty, isDead) = (new AtomicBoolean(true), new AtomicBoolean())
      val deletions = new AtomicInteger()
      val table = FaultyCatalog.table(path) { (call, name, proceed) =>
        if (isFaulty.get()) {
          if (call == "delete") deletions.incrementAndGet()
          if (isDead.get() && Set("read", "list", "publish", "exists", "delete").contains(call))
            throw new StorageException(path, "The storage does not answer")
          if (call == "publish" && name.exists(_.toString.startsWith("manifest/"))) {
            if (isPublished) proceed()
            isDead.set(true)
            throw new CommitOutcomeUnknownException(path, "Cannot tell. Delete nothing")
          }
        }
        proceed()
      }
      val message = failure(toTable(lines(input, "id long"), checkpoint, table))
      assert(message.contains("Delete nothing") && deletions.get() == 0, message)
      isFaulty.set(false)
      addIds(input, 20L until 30)
      toTable(lines(input, "id long"), checkpoint, table)
      assert(ids(path) == (0L until 30), s"published: $isPublished")
    }
  }

  testLocally("a commit that is refused leaves no files, and is done once afterwards") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshLocalPath())
    write(spark.range(0, 10, 1, 1).toDF("id"), path, "append")
    val files = filesOf(path).names
    addIds(input, 10L until 20)
    val isFull = new AtomicBoolean(true)
    val table = FaultyCatalog.table(path) { (call, name, proceed) =>
      if (isFull.get() && call == "publish" && name.exists(_.toString.startsWith("manifest/")))
        throw new StorageException(path, "The disk is full")
      proceed()
    }
    assert(failure(toTable(lines(input, "id long"), checkpoint, table)).contains("disk is full"))
    assert(filesOf(path).names == files)
    isFull.set(false)
    toTable(lines(input, "id long"), checkpoint, table)
    assert(ids(path) == (0L until 20))
  }

  test("a stream whose first batches have no rows goes on, with one version for them") {
    for (isThere <- Seq(true, false)) {
      val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
      if (isThere) sql(s"create table lake.$table (id bigint)")
      def batch(ids: Seq[Long]): Unit = {
        addIds(input, ids)
        toTable(lines(input, "id long").where("id >= 20"), checkpoint, s"lake.$table")
      }
      batch(0L until 10)
      val version = tableAt(s"$warehouse/$table").latest().version()
      batch(10L until 20)
      assert(tableAt(s"$warehouse/$table").latest().version() == version)
      batch(20L until 30)
      batch(0L until 5)
      assert(spark.table(s"lake.$table").collect().map(_.getLong(0)).toSeq == (20L until 30))
    }
  }

  test("a stream whose table is dropped stops, also if the stream had made the table") {
    for (isDroppedWhileRunning <- Seq(true, false)) {
      val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
      addIds(input, 0L until 10)
      val start = () =>
        withOptions(
          lines(input, "id long").writeStream.format("zrecord"),
          "checkpointLocation" -> checkpoint
        ).toTable(s"lake.$table")
      val query = start()
      query.processAllAvailable()
      if (!isDroppedWhileRunning) query.stop()
      sql(s"drop table lake.$table")
      addIds(input, 10L until 20)
      val running = if (isDroppedWhileRunning) query else start()
      val message =
        try failure(running.processAllAvailable())
        finally running.stop()
      assert(
        message.contains(
          if (isDroppedWhileRunning) "the table was dropped since the stream started"
          else "none of the epochs before"
        ),
        message
      )
      // A start makes an empty table, before it runs an epoch.
      assert(
        sql(s"show tables in lake like '$table'").isEmpty || spark.table(s"lake.$table").isEmpty
      )
    }
  }

  test("an epoch that took effect is done, also if a constraint was added before Spark noted it") {
    assume(spark.version >= "4.1", "Spark has CHECK from 4.1 on")
    val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
    sql(s"create table lake.$table (id bigint)")
    addIds(input, 0L until 10)
    addIds(input, 10L until 20)
    toTable(lines(input, "id long"), checkpoint, s"lake.$table")
    forgetLastCommit(checkpoint)
    sql(s"alter table lake.$table add constraint positive check (id >= 0)")
    toTable(lines(input, "id long"), checkpoint, s"lake.$table")
    addIds(input, 20L until 30)
    val message = failure(toTable(lines(input, "id long"), checkpoint, s"lake.$table"))
    assert(message.contains("'positive' CHECK"), message)
    assert(spark.table(s"lake.$table").count() == 20)
  }

  test("complete mode replaces all records, and once") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    def counts(): Unit = {
      val grouped = lines(input, "id long").groupBy((col("id") % 3).as("rest")).count()
      run(writer(grouped, checkpoint).outputMode("complete").start(path))
    }
    def found = read(path).collect().map(row => (row.getLong(0), row.getLong(1))).toSet
    addIds(input, 0L until 9)
    counts()
    assert(found == Set((0L, 3L), (1L, 3L), (2L, 3L)))
    addIds(input, 9L until 11)
    counts()
    assert(found == Set((0L, 4L), (1L, 4L), (2L, 3L)))
    val version = tableAt(path).latest().version()
    forgetLastCommit(checkpoint)
    counts()
    assert(found == Set((0L, 4L), (1L, 4L), (2L, 3L)))
    assert(tableAt(path).latest().version() == version)
  }

  test("update mode is refused with the remedy") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    addIds(input, 0L until 9)
    val grouped = lines(input, "id long").groupBy((col("id") % 3).as("rest")).count()
    val refused = failure(run(writer(grouped, checkpoint).outputMode("update").start(path)))
    assert(refused.contains("output mode update") && refused.contains("foreachBatch"), refused)
  }

  test("a table of a catalog is created, and appended to by two streams") {
    val (first, second) = (freshDirectory(), freshDirectory())
    val table = freshTable()
    addIds(first, 0L until 10)
    addIds(second, 100L until 110)
    val checkpoints = Seq(freshDirectory(), freshDirectory())
    for (_ <- 1 to 2) {
      toTable(lines(first, "id long"), checkpoints.head, s"lake.$table")
      toTable(lines(second, "id long"), checkpoints.last, s"lake.$table")
      checkpoints.foreach(forgetLastCommit)
      toTable(lines(second, "id long"), checkpoints.last, s"lake.$table")
      toTable(lines(first, "id long"), checkpoints.head, s"lake.$table")
    }
    assert(
      sql(s"select id from lake.$table order by id").map(_.getLong(0)) ==
        (0L until 10) ++ (100L until 110)
    )
    assert(tableAt(s"$warehouse/$table").latest().transactions().size() == 2)
  }

  test("two streams at once write each record once") {
    val inputs = Seq.fill(2)(freshDirectory())
    val checkpoints = Seq.fill(2)(freshDirectory())
    val path = freshPath()
    write(spark.range(0).toDF("id"), path, "append")
    for ((input, i) <- inputs.zipWithIndex; k <- 0L until 4)
      addIds(input, Seq(i * 100 + k))
    val queries = inputs.zip(checkpoints).map { case (input, checkpoint) =>
      writer(lines(input, "id long"), checkpoint).start(path)
    }
    queries.foreach(_.awaitTermination())
    assert(ids(path).sorted == Seq(0L, 1, 2, 3, 100, 101, 102, 103))
  }

  test("a partitioned table has a shard of each partition for each batch") {
    val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
    sql(s"create table lake.$table (id bigint, day string) using zrecord partitioned by (day)")
    val schema = "id long, day string"
    for (k <- 0 until 2)
      addLines(
        input,
        (0 until 20).map(i => s"""{"id":${k * 20 + i},"day":"d${i % 3}"}"""): _*
      )
    toTable(lines(input, schema), checkpoint, s"lake.$table")
    val found = sql(s"select day, count(*), min(id) from lake.$table group by day order by day")
    assert(found == Seq(Row("d0", 14L, 0L), Row("d1", 14L, 1L), Row("d2", 12L, 2L)))
    assert(tableAt(s"$warehouse/$table").latest().shards().size() == 6)
    addLines(input, """{"id":99,"day":"d0"}""")
    val byPath = lines(input, schema)
    append(byPath, checkpoint, s"$warehouse/$table")
    assert(sql(s"select id from lake.$table where id = 99") == Seq(Row(99L)))
    val created = freshTable()
    run(
      writer(lines(input, schema), freshDirectory()).partitionBy("day").toTable(s"lake.$created")
    )
    assert(tableAt(s"$warehouse/$created").latest().partitionFields().size() == 1)
  }

  test("declared defaults, numbers and NOT NULL hold, and checks are refused with their names") {
    val (input, table) = (freshDirectory(), freshTable())
    sql(s"create table lake.$table (id bigint not null, label int default 7) using zrecord")
    addIds(input, 0L until 3)
    val checkpoint = freshDirectory()
    toTable(lines(input, "id long"), checkpoint, s"lake.$table")
    assert(sql(s"select sum(label) from lake.$table") == Seq(Row(21L)))
    addLines(input, """{"id":null}""")
    val refused = failure(toTable(lines(input, "id long"), checkpoint, s"lake.$table"))
    assert(isRefusalOfNull(refused, "id"), refused)
    assert(sql(s"select count(*) from lake.$table") == Seq(Row(3L)))

    val numbered = numberedTable(Identity.byDefault(1, 100, 1))
    val labels = freshDirectory()
    addLines(labels, (0 until 3).map(i => s"""{"text":"t","label":$i}"""): _*)
    append(lines(labels, "text string, label int"), freshDirectory(), numbered)
    assert(rows(read(numbered)).map(_.getLong(0)) == Seq(100L, 101L, 102L))

    val few = freshDirectory()
    val filled = tableAt(numbered).latest().version()
    for (_ <- 0 until 3) {
      addLines(labels, """{"text":"none","label":-1}""")
      append(lines(labels, "text string, label int").where("label > 100"), few, numbered)
    }
    val after = tableAt(numbered).latest()
    assert(after.version() == filled + 1, "the first batch of a stream, and no number is reserved")
    addLines(labels, """{"text":"t","label":101}""")
    append(lines(labels, "text string, label int").where("label > 100"), few, numbered)
    assert(rows(read(numbered)).size == 4)

    val checked = freshTable()
    sql(s"create table lake.$checked (id bigint) using zrecord")
    DeclarationChange
      .of(tableAt(s"$warehouse/$checked").latest())
      .add(Constraint.check("small", "id < 10", Seq(Integer.valueOf(1)).asJava))
      .commit()
    val unchecked = failure(toTable(lines(input, "id long"), freshDirectory(), s"lake.$checked"))
    assert(unchecked.contains("'small'") && unchecked.contains("foreachBatch"), unchecked)
  }

  test("options of a stream are obeyed, or refused by their names") {
    val (input, path) = (freshDirectory(), freshPath())
    addIds(input, 0L until 10)
    append(lines(input, "id long"), freshDirectory(), path, "compression" -> "zstd")
    assert(
      tableAt(path).latest().schema().fields().get(0).compression().toString.contains("zstd")
    )
    for (
      (option, expected) <- Seq(
        ("txnAppId" -> "a") -> "txnAppId",
        ("txnVersion" -> "1") -> "txnVersion",
        ("expectedVersion" -> "0") -> "expectedVersion",
        ("versionAsOf" -> "0") -> "versionAsOf",
        ("bogus" -> "0") -> "bogus"
      )
    ) {
      val refused = failure(append(lines(input, "id long"), freshDirectory(), path, option))
      assert(refused.contains(s"ption $expected"), refused)
    }
    assert(ids(path) == (0L until 10))
    spark.conf.set("spark.datasource.zrecord.txnAppId", "a")
    spark.conf.set("spark.datasource.zrecord.txnVersion", "1")
    try
      assert(failure(append(lines(input, "id long"), freshDirectory(), path)).contains("txnAppId"))
    finally {
      spark.conf.unset("spark.datasource.zrecord.txnAppId")
      spark.conf.unset("spark.datasource.zrecord.txnVersion")
    }
  }

  test("columns that do not fit are refused, and added with mergeSchema") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    write(spark.range(0, 3, 1, 1).toDF("id"), path, "append")
    addLines(input, """{"id":3,"text":"a"}""")
    val source = lines(input, "id int, text string")
    val refused = failure(append(source, freshDirectory(), path))
    assert(refused.contains("'text'") && refused.contains("mergeSchema"), refused)
    append(source, checkpoint, path, "mergeSchema" -> "true")
    assert(rows(read(path)).last == Row(3L, "a", 3L))
    val wrong = failure(append(lines(input, "id string, text string"), freshDirectory(), path))
    assert(wrong.contains("'id'") && wrong.contains("cast it"), wrong)
  }

  test("a field that is added while a stream runs gets its default") {
    val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
    sql(s"create table lake.$table (id bigint) using zrecord")
    val query = writer(lines(input, "id long"), checkpoint)
      .trigger(Trigger.ProcessingTime(0))
      .toTable(s"lake.$table")
    try {
      addIds(input, Seq(0L))
      query.processAllAvailable()
      sql(s"alter table lake.$table add column label int default 5")
      addIds(input, Seq(1L))
      query.processAllAvailable()
      sql(s"delete from lake.$table where id = 0")
      Rebalance.of(spark, s"$warehouse/$table").run()
      addIds(input, Seq(2L))
      query.processAllAvailable()
    } finally query.stop()
    assert(sql(s"select id, label from lake.$table order by id") == Seq(Row(1L, 5), Row(2L, 5)))
  }

  test("a stream into a table that was dropped, and made anew, says so") {
    val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
    sql(s"create table lake.$table (id bigint) using zrecord")
    val query = writer(lines(input, "id long"), checkpoint)
      .trigger(Trigger.ProcessingTime(0))
      .toTable(s"lake.$table")
    try {
      addIds(input, Seq(3L))
      query.processAllAvailable()
      sql(s"drop table lake.$table")
      sql(s"create table lake.$table (id bigint) using zrecord")
      addIds(input, Seq(4L))
      val refused = failure(query.processAllAvailable())
      assert(refused.contains("was dropped and made anew"), refused)
    } finally query.stop()
    assert(sql(s"select id from lake.$table") == Nil)
  }

  test("a table of the session's catalog is written and read as a stream") {
    val (input, first, second) = (freshDirectory(), freshDirectory(), freshDirectory())
    val (table, copy) = (freshTable(), freshTable())
    sql(s"create table $table (id bigint not null, label int default 3) using zrecord")
    val schema = "id long, label int"
    for (batch <- 0 to 1) {
      addLines(input, s"""{"id":$batch,"label":3}""", s"""{"id":${batch + 10},"label":3}""")
      if (batch == 0) {
        toTable(lines(input, "id long"), freshDirectory(), table) // The default is the label.
      }
      toTable(lines(input, schema), first, table)
      forgetLastCommit(first)
      toTable(lines(input, schema), first, table)
      toTable(spark.readStream.table(table), second, copy)
    }
    assert(sql(s"select sum(label), count(*) from $table") == Seq(Row(18L, 6L)))
    assert(sql(s"select * from $copy order by id") == sql(s"select * from $table order by id"))
    addLines(input, """{"id":null,"label":1}""")
    assert(isRefusalOfNull(failure(toTable(lines(input, schema), first, table)), "id"))
    Seq(table, copy).foreach(name => sql(s"drop table $name"))
  }

  test("a batch without rows makes no version, but creates a table") {
    val (input, checkpoint, path) = (freshDirectory(), freshDirectory(), freshPath())
    addIds(input, 0L until 3)
    val none = lines(input, "id long").where("id > 100")
    append(none, checkpoint, path)
    assert(read(path).count() == 0 && tableAt(path).latest().version() == 0)
    addIds(input, 0L until 3)
    append(none, checkpoint, path)
    assert(tableAt(path).latest().version() == 0)
  }

  test("changes are merged by foreachBatch, once") {
    val (input, checkpoint, table) = (freshDirectory(), freshDirectory(), freshTable())
    sql(s"create table lake.$table (id bigint, label bigint) using zrecord")
    sql(s"insert into lake.$table select id, 0 from range(10)")
    def merge(): Unit = run(
      writer(lines(input, "id long"), checkpoint)
        .foreachBatch { (batch: DataFrame, number: Long) =>
          val session = batch.sparkSession
          batch.createOrReplaceTempView("changes")
          session.conf.set("spark.datasource.zrecord.txnAppId", "merges")
          session.conf.set("spark.datasource.zrecord.txnVersion", number)
          try
            session.sql(s"""merge into lake.$table t using changes c on t.id = c.id
               | when matched then update set label = t.label + 1
               | when not matched then insert (id, label) values (c.id, 100)""".stripMargin)
          finally {
            session.conf.unset("spark.datasource.zrecord.txnAppId")
            session.conf.unset("spark.datasource.zrecord.txnVersion")
          }
          ()
        }
        .start()
    )
    def labels = sql(s"select id, label from lake.$table where label > 0 order by id")
    addIds(input, Seq(8L, 9L, 10L, 11L))
    merge()
    val expected = Seq(Row(8L, 1L), Row(9L, 1L), Row(10L, 100L), Row(11L, 100L))
    assert(labels == expected)
    forgetLastCommit(checkpoint)
    merge()
    assert(labels == expected)
  }
}

object StreamWriteSuite {
  val fails = new AtomicBoolean()

  val failing = udf((id: Long) => if (id == 15 && fails.get()) sys.error("record 15 fails") else id)
}
