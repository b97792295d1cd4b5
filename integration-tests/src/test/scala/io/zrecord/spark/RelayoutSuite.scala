package io.zrecord.spark

import java.io.{ByteArrayOutputStream, File, PrintStream}
import java.nio.charset.StandardCharsets
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Paths}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong, AtomicReference}

import scala.util.Random

import io.zrecord.{RecordDataset, RecordDatasetWriter}
import io.zrecord.errors.{CommitConflictException, CorruptDataException}
import io.zrecord.rebalance.{Direction, RecordOrder}
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.storage.LocalStorage
import io.zrecord.table.{IndexMap, RecordTable, TableSnapshot}
import org.apache.spark.api.java.JavaSparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd, SparkListenerTaskStart}

/** Another order by Spark is what one process makes of the same table, or nothing changes.
  * `-Dzrecord.test.relayoutKills=N` for more drivers that are killed.
  */
class RelayoutSuite extends SparkSuite {
  import RelayoutSuite._

  private val kills = Integer.getInteger("zrecord.test.relayoutKills", 1).intValue
  private val seed = java.lang.Long.getLong("zrecord.test.seed", 20261122L).longValue

  override protected def master: String = "local[2,4]"

  private def table(path: String) = RecordTable.at(LocalStorage.at(Paths.get(path)))

  private def snapshot(path: String): TableSnapshot = table(path).latest()

  /** About 4 MiB: a number that is unique, one with many ties, and a text that is sometimes absent.
    */
  private def write(records: Int): String = {
    val path = freshPath()
    append(path, records, 400000 / records)
    path
  }

  private def append(path: String, records: Int, repeats: Int = 1): Unit =
    write(
      spark
        .range(0, records, 1, 3)
        .selectExpr(
          "id",
          "id * 7919 % 10 tie",
          "if(id % 7 = 0, null, concat(id * 31 % 101, 't')) text",
          s"cast(repeat(lpad(string(id), 10, '0'), $repeats) as binary) bin"
        ),
      path,
      "append"
    )

  private def copy(path: String): String = {
    val to = freshPath()
    filesBelow(path).foreach { file =>
      val target = Paths.get(to).resolve(Paths.get(path).relativize(file))
      Files.createDirectories(target.getParent)
      Files.copy(file, target)
    }
    to
  }

  private def relayout(path: String, order: RecordOrder): Relayout =
    Relayout.of(spark, path, order).layout(Layout, Mib)

  private def withConf(values: (String, String)*)(action: => Any): Unit = {
    val before = values.map { case (key, _) => key -> spark.conf.getOption(key) }
    values.foreach { case (key, value) => spark.conf.set(key, value) }
    try action
    finally
      before.foreach { case (key, value) =>
        value.fold(spark.conf.unset(key))(spark.conf.set(key, _))
      }
  }

  private def newIndices(map: IndexMap): Seq[Long] = {
    val all = new Array[Long](map.length().toInt)
    map.newIndices(0, all, 0, all.length)
    all.toSeq
  }

  /** Shards that a version names, its index map among them. */
  private def named(path: String): Set[String] = {
    val ids = Set.newBuilder[String]
    table(path).versions().forEach { number =>
      val version = table(path).version(number)
      version.shards().forEach(shard => ids += shard.id().toString)
      version.indexMap().ifPresent(map => ids += map.shard().id().toString)
    }
    ids.result()
  }

  private def requireNoOrphan(path: String): Unit =
    assert(new File(path, "shard").list().toSet == named(path))

  test(s"every type is sorted as in one process, in both directions ($seed)") {
    val path = Paths.get(freshPath())
    val random = new Random(seed)
    val schema = types.foldLeft(RecordSchema.builder()) { case (builder, (name, kind)) =>
      builder.field(name, kind)
    }
    val writer = RecordDatasetWriter.create(path, schema.build(), WriteOptions.defaults())
    try {
      val pools = types.map { case (name, kind) => name -> pool(kind, random) }
      val appenders = Seq.fill(3)(writer.newAppender())
      appenders.foreach { appender =>
        (0 until 150).foreach { _ =>
          pools.foreach { case (name, values) =>
            if (random.nextInt(8) > 0)
              appender.set(name, values(random.nextInt(values.size)))
          }
          appender.endRecord()
        }
      }
      writer.commit()
    } finally writer.close()
    val version = snapshot(path.toString)
    val dataset = RecordDataset.open(version, RecordDataset.ReadOptions.defaults())
    for ((name, _) <- types; direction <- Direction.values()) {
      val order = new RecordOrder.ByField(name, direction)
      val expected = new Array[Long](450)
      order.arrange(dataset).oldIndices(0, expected, 450)
      val sorted = KeySort.sorted(spark, version, order).collect().map(_.getLong(0))
      assert(sorted.toSeq == expected.toSeq, s"$name $direction")
      assert(sorted.toSeq != (0L until 450L), name)
    }
  }

  Seq[RecordOrder](
    RecordOrder.shuffle(42),
    RecordOrder.by("tie", Direction.ASCENDING),
    RecordOrder.by("text", Direction.DESCENDING)
  ).foreach { order =>
    test(s"the table and the map are those of one process: $order") {
      val path = write(1000)
      append(path, 3)
      val before = rows(read(path))
      val twin = copy(path)
      val alone =
        io.zrecord.rebalance.Relayout.of(snapshot(twin), order).layout(Layout, Mib).run()
      val result = relayout(path, order).concurrency(2).run()
      assert(rows(read(path)) == rows(read(twin)))
      assert(rows(read(path, "versionAsOf" -> "1")) == before)
      val version = snapshot(path)
      assert(
        newIndices(version.indexMap().get()) == newIndices(snapshot(twin).indexMap().get())
      )
      assert(lengths(version) == lengths(snapshot(twin)))
      assert(version.shards().size() == 4)
      assert(result.records() == alone.records() && result.valueBytes() == alone.valueBytes())
      assert(result.shardsBefore() == 6 && result.shardsAfter() == 4)
      assert(version.operation() == "relayout")
      assert(version.properties().get("order") == order.toString)
      assert(version.properties().get("applicationId") == spark.sparkContext.applicationId)
      assert(version.properties().get("user") == spark.sparkContext.sparkUser)
      requireNoOrphan(path)
      assert(Verify.of(spark, path).allVersions().run().isSound)
    }
  }

  test("one shard, one record, and orders that are none") {
    val path = write(1)
    assert(relayout(path, RecordOrder.by("id", Direction.ASCENDING)).run().records() == 1)
    assert(relayout(path, RecordOrder.shuffle(1)).run().shardsAfter() == 1)
    // Of values that one process refuses to compare.
    val long = write(100)
    relayout(long, RecordOrder.by("bin", Direction.DESCENDING)).run()
    assert(
      read(long).orderBy("_index").select("id").collect().map(_.getLong(0)).toSeq ==
        (0L until 100).reverse
    )
    val message = failure(relayout(path, RecordOrder.by("nope", Direction.ASCENDING)).run())
    assert(message.contains("nope") && message.contains("id, tie, text, bin"), message)
    requireNoOrphan(path)
  }

  test("options that the session has defaults for do not reach the sort") {
    val order = RecordOrder.by("tie", Direction.DESCENDING)
    Seq(
      Seq("sampler" -> "random", "numSamples" -> "1000"),
      Seq("tag" -> "nope"),
      Seq("timestampAsOf" -> "2001-01-01"),
      Seq("indices" -> "1,2"),
      Seq("view" -> "versions"),
      Seq("paths" -> "[\"/nope\"]")
    ).foreach { defaults =>
      val path = write(1000)
      val before = read(path).select("id").collect().map(_.getLong(0))
      withConf(defaults.map { case (key, value) =>
        s"spark.datasource.zrecord.$key" -> value
      }: _*) {
        relayout(path, order).run()
      }
      val after = read(path).orderBy("_index").select("id").collect().map(_.getLong(0))
      assert(after.toSeq == before.toSeq.sortBy(id => -(id * 7919 % 10)), defaults)
    }
  }

  test("an order that is none is not written") {
    val path = write(10)
    val location = LocalStorage.at(Paths.get(path)).location()
    val jobs =
      new TaskJobs(JavaSparkContext.fromSparkContext(spark.sparkContext), location, "test", "")
    Seq(
      "id" -> "",
      "if(id = 7, 6, id)" -> "record 6 .* twice",
      "id + if(id < 7, 0, 1)" -> "record 7 .* not at all"
    )
      .foreach { case (old, expected) =>
        val places = spark.range(0, 10, 1, 1).selectExpr("id new", s"$old old").javaRDD
        def run() = jobs.run(
          () => places.mapPartitions(new IndexTask(location, IndexTask.Kind.MAP, Layout)),
          "map"
        )
        if (expected.isEmpty) table(path).discard(run())
        else assert(failure(run()).matches(s"(?s).*$expected.*"), old)
        requireNoOrphan(path)
      }
  }

  test(
    s"long values are divided among tasks by their first bytes, of which the driver has some ($seed)"
  ) {
    val path = freshPath()
    val random = new Random(seed)
    // Some are as long as the prefix or one byte longer, in a text with characters of two bytes.
    val stems = Seq("a" * 63, "a" * 64, "é" * 32, "a" + "é" * 32, "a" * 62 + "é", "b" * 70, "")
    val values = Seq.fill(600)(stems(random.nextInt(stems.size)) + "xyz".take(random.nextInt(4)))
    val data = spark.createDataFrame(values.zipWithIndex).toDF("text", "id").coalesce(1)
    write(
      data.selectExpr("id", "if(id % 9 = 0, null, text) text", "cast(text as binary) bin"),
      path,
      "append"
    )
    val version = snapshot(path)
    val dataset = RecordDataset.open(version, RecordDataset.ReadOptions.defaults())
    withConf("spark.sql.shuffle.partitions" -> "7", "spark.sql.adaptive.enabled" -> "false") {
      for (name <- Seq("text", "bin"); direction <- Direction.values()) {
        val order = new RecordOrder.ByField(name, direction)
        val expected = new Array[Long](600)
        order.arrange(dataset).oldIndices(0, expected, 600)
        val sorted = KeySort.sorted(spark, version, order)
        assert(sorted.collect().map(_.getLong(0)).toSeq == expected.toSeq, s"$name $direction")
        assert(sorted.rdd.glom().collect().count(_.nonEmpty) > 3)
      }
    }
    val long = freshPath()
    write(
      spark
        .range(0, 3000, 1, 2)
        .selectExpr(
          "id",
          "concat(lpad(string(id * 7919 % 3000), 4, '0'), repeat('x', 20000)) text"
        ),
      long,
      "append"
    )
    // Of whole values each task would send samples of some megabytes.
    val largest = new AtomicLong()
    listening(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        largest.accumulateAndGet(end.taskMetrics.resultSize, (a, b) => math.max(a, b))
    }) {
      relayout(long, RecordOrder.by("text", Direction.ASCENDING)).run()
    }
    assert(largest.get() < (256 << 10))
    assert(
      read(long).orderBy("_index").select("id").collect().map(_.getLong(0)).toSeq ==
        (0L until 3000L).sortBy(_ * 7919 % 3000)
    )
  }

  test("fields that differ only by their case, and those that Spark takes for its own") {
    def dataset(names: String*): String = {
      val path = Paths.get(freshPath())
      val schema = names.foldLeft(RecordSchema.builder())(_.field(_, ElementType.I8))
      val writer = RecordDatasetWriter.create(path, schema.build(), WriteOptions.defaults())
      try {
        val appender = writer.newAppender()
        Seq[Byte](2, 3, 1).foreach { value =>
          appender.set(names(0), Array[Byte](0)).set(names(1), Array(value)).endRecord()
        }
        writer.commit()
      } finally writer.close()
      path.toString
    }
    val cased = dataset("label", "Label")
    val result = relayout(cased, RecordOrder.by("Label", Direction.ASCENDING)).run()
    assert(newIndices(result.snapshot().indexMap().get()) == Seq(1, 2, 0))
    val hiding = dataset("id", "_INDEX")
    val message = failure(relayout(hiding, RecordOrder.by("id", Direction.DESCENDING)).run())
    assert(message.contains("'_INDEX'") && message.contains("metadata column"), message)
    assert(failure(read(hiding).collect()).contains("metadata column"))
    val written = failure(write(spark.range(1).selectExpr("id _Position"), freshPath(), "append"))
    assert(written.contains("metadata column"), written)
  }

  test("what is committed meanwhile is a conflict that ends the run early, and nothing is left") {
    val path = write(1000)
    val plan = relayout(path, RecordOrder.by("tie", Direction.ASCENDING)).concurrency(1)
    val done = new AtomicInteger()
    val run = plan.prepare(plan.plan()).onRecords { _ =>
      if (done.incrementAndGet() == 1) append(path, 3)
    }
    intercept[CommitConflictException](run.run())
    assert(done.get() == 1)
    assert(snapshot(path).version() == 1)
    assert(read(path).count() == 1003)
    requireNoOrphan(path)
  }

  test("a damaged value changes nothing, and needs no other attempt to be found") {
    val path = write(1000)
    val chunk = Paths.get(path, snapshot(path).shards().get(2).directory(), "chunk/0.zr")
    val bytes = Files.readAllBytes(chunk)
    bytes(bytes.length - 9) = (bytes(bytes.length - 9) ^ 4).toByte
    Files.write(chunk, bytes)
    // One job at a time: one that is done while it is cancelled leaves its shard to a sweep.
    val run = relayout(path, RecordOrder.shuffle(1)).concurrency(1)
    val error = intercept[CorruptDataException](run.run())
    assert(error.getMessage.contains("checksum"), error)
    assert(snapshot(path).version() == 0)
    requireNoOrphan(path)
    val said = command(path, "--shuffle=1", "--change-indices")
    assert(said.exitCode == 1 && said.err.contains("checksum"), said)
  }

  test("files of the order are not mapped when they are deleted") {
    val path = write(1000)
    relayout(path, RecordOrder.by("tie", Direction.ASCENDING)).run()
    def left = Files
      .readAllLines(Paths.get("/proc/self/maps"))
      .stream()
      .filter(map => map.contains(path) && map.endsWith("(deleted)"))
      .count()
    assert(eventually {
      // The collector unmaps.
      System.gc()
      left == 0
    })
  }

  test("a damaged key is found by the sort") {
    val path = write(1000)
    val shards = snapshot(path).shards()
    val chunk = Paths.get(path, shards.get(2).directory(), "chunk/0.zr")
    val bytes = Files.readAllBytes(chunk)
    val first = shards.get(0).length() + shards.get(1).length()
    val keys =
      ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(first).putLong(first + 1)
    val place = bytes.indexOfSlice(keys.array().toIndexedSeq)
    bytes(place) = (bytes(place) ^ 1).toByte
    Files.write(chunk, bytes)
    val order = new RecordOrder.ByField("id", Direction.DESCENDING)
    assert(failure(KeySort.sorted(spark, snapshot(path), order).collect()).contains("checksum"))
    val error = intercept[CorruptDataException](relayout(path, order).run())
    assert(error.getMessage.contains("checksum"), error)
    requireNoOrphan(path)
    val said = command(path, "--order-by=id", "--change-indices")
    assert(said.exitCode == 1 && said.err.contains("checksum"), said)
  }

  test("a run that is interrupted ends the jobs that it waits for before its own") {
    val jobs = new TaskJobs(JavaSparkContext.fromSparkContext(spark.sparkContext), "/x", "test", "")
    started = new CountDownLatch(1)
    release = new CountDownLatch(1)
    val said = new AtomicReference[Throwable]()
    val runner = new Thread(() =>
      try
        jobs.run(
          () => {
            spark.sparkContext.parallelize(Seq(1), 1).foreach { _ =>
              RelayoutSuite.started.countDown()
              RelayoutSuite.release.await()
            }
            null
          },
          "planning"
        )
      catch { case e: Throwable => said.set(e) }
    )
    try {
      runner.start()
      started.await()
      assert(spark.sparkContext.statusTracker.getActiveJobIds().length == 1)
      runner.interrupt()
      runner.join()
      assert(messages(said.get()).contains("Interrupted in a test"), said.get())
      assert(eventually(spark.sparkContext.statusTracker.getActiveJobIds().isEmpty))
    } finally release.countDown()
  }

  test("a run that is cancelled changes nothing") {
    val path = write(1000)
    val started = new AtomicInteger()
    listening(new SparkListener {
      override def onTaskStart(start: SparkListenerTaskStart): Unit =
        if (started.incrementAndGet() >= 3) spark.sparkContext.cancelAllJobs()
    }) {
      val message = failure(relayout(path, RecordOrder.shuffle(1)).concurrency(1).run())
      assert(message.contains("was cancelled, nothing changed"), message)
    }
    assert(snapshot(path).version() == 0)
    // A task that was done as its job was cancelled has left its shard to a sweep.
    assert(eventually((new File(path, "shard").list().toSet -- named(path)).size <= 1))
  }

  test("the command: what it refuses, a plan, a run") {
    val path = write(100)
    val files = filesBelow(path).toSet
    val refused = command(path, "--order-by=tie")
    assert(refused.exitCode == 2 && refused.err.contains("--change-indices"), refused)
    val unknown = command(path, "--order-by=nope", "--change-indices")
    assert(unknown.exitCode == 2 && unknown.err.contains("nope"), unknown)
    val unfit = command(path, "--shuffle=1", "--change-indices", "--max-bytes=1m")
    assert(unfit.exitCode == 2 && unfit.err.contains("does not go with another order"), unfit)
    val nothing = command(freshPath(), "--shuffle=1", "--change-indices")
    assert(nothing.exitCode == 2, nothing)
    val plan = command(path, "--order-by=tie:desc", "--dry-run")
    assert(plan.exitCode == 0, plan)
    assert(plan.out == """{"version":0,"order":"'tie' descending","records":100}""" + "\n")
    assert(filesBelow(path).toSet == files)
    val done = command(path, "--order-by=tie:desc", "--change-indices", "--concurrency=2")
    assert(done.exitCode == 0, done)
    assert(
      done.out.matches("""\{"version":1,"order":"'tie' descending",.*"indexMap":"shard/.*\n""")
    )
    assert(read(path).orderBy("_index").select("tie").head().getLong(0) == 9)
  }

  test(s"drivers that are killed leave the old or the new version, whole ($seed)") {
    val random = new Random(seed)
    for (kill <- 0 until kills) {
      val path = write(20000)
      val before = rows(read(path))
      val process = SubmittedProcess.start(
        "io.zrecord.spark.Rebalance",
        path,
        "--order-by=text",
        "--change-indices",
        "--target-shard-bytes=1m"
      )
      val shards = new File(path, "shard").list().length + 1 + random.nextInt(5)
      assert(
        eventually(!process.isAlive || new File(path, "shard").list().length >= shards, 300),
        process.err
      )
      process.kill()
      assert(rows(read(path, "versionAsOf" -> "0")) == before, s"kill $kill")
      assert(snapshot(path).version() <= 1)
      assert(Verify.of(spark, path).allVersions().run().isSound, s"kill $kill")
      assert(named(path).subsetOf(new File(path, "shard").list().toSet))
      relayout(path, RecordOrder.by("text", Direction.ASCENDING)).run()
      assert(read(path).count() == before.size)
    }
  }

  private def lengths(version: TableSnapshot): Seq[Long] =
    (0 until version.shards().size()).map(i => version.shards().get(i).length())

  /** The command in this process. */
  private def command(arguments: String*): Said = {
    val (out, err) = (new ByteArrayOutputStream(), new ByteArrayOutputStream())
    val (standardOut, standardErr) = (System.out, System.err)
    System.setOut(new PrintStream(out, true, "UTF-8"))
    System.setErr(new PrintStream(err, true, "UTF-8"))
    val exitCode =
      try SubmittedCommand.execute(new RebalanceJob(), arguments: _*)
      finally {
        System.setOut(standardOut)
        System.setErr(standardErr)
      }
    Said(exitCode, out.toString("UTF-8"), err.toString("UTF-8"))
  }
}

object RelayoutSuite {

  /** Of a task in this process. */
  @volatile var started: CountDownLatch = _
  @volatile var release: CountDownLatch = _

  val Mib: Long = 1L << 20
  val Layout: WriteOptions = WriteOptions.defaults().withStripeBytes(1 << 16)

  case class Said(exitCode: Int, out: String, err: String)

  /** All types that have an order. */
  val types: Seq[(String, ElementType)] = Seq(
    ElementType.BOOL,
    ElementType.I8,
    ElementType.U8,
    ElementType.I16,
    ElementType.U16,
    ElementType.I32,
    ElementType.U32,
    ElementType.I64,
    ElementType.U64,
    ElementType.F16,
    ElementType.BF16,
    ElementType.F32,
    ElementType.F64,
    ElementType.DATE,
    ElementType.TIMESTAMP,
    ElementType.TIMESTAMP_NTZ,
    ElementType.decimal(9, 2),
    ElementType.decimal(18, 6),
    ElementType.decimal(38, 10),
    ElementType.BYTES,
    ElementType.UTF8
  ).map(kind => kind.toString -> kind)

  /** Values as bytes, extreme ones among them. */
  def pool(kind: ElementType, random: Random): IndexedSeq[Array[Byte]] = {
    def text(value: String) = value.getBytes(StandardCharsets.UTF_8)
    kind.kind() match {
      case ElementType.Kind.BOOL => IndexedSeq(Array[Byte](0), Array[Byte](1))
      case ElementType.Kind.UTF8 =>
        IndexedSeq(
          "",
          "a",
          "a\u0000",
          "aa",
          "aaaaaaaa",
          "aaaaaaaab",
          "ab",
          "b",
          "\uffff",
          "🙂",
          "é"
        )
          .map(text)
      case ElementType.Kind.BYTES =>
        IndexedSeq("", "a", "a\u0000", "a\u0000\u0000b", "aaaaaaaaa").map(text) ++
          Seq(Array[Byte](-1), Array[Byte](-1, 0), Array[Byte](127), Array[Byte](-128))
      case ElementType.Kind.DECIMAL =>
        val largest = new java.math.BigInteger("9" * kind.precision())
        (Seq(largest, largest.negate()) ++ Seq(0L, 1L, -1L, 255L, -256L, 123456789L)
          .map(value => java.math.BigInteger.valueOf(value)))
          .map(value => littleEndian(value, kind.widthBytes().getAsInt))
          .toIndexedSeq
      case _ =>
        val width = kind.widthBytes().getAsInt
        val patterns = Seq(0, 1, 127, 128, 255).map(high =>
          Array.tabulate(width)(i => if (i == width - 1) high.toByte else 0.toByte)
        ) ++ Seq(
          Array.fill(width)(-1: Byte),
          Array.tabulate(width)(i => if (i == 0) 1.toByte else 0.toByte)
        ) ++
          infinities(kind)
        (patterns ++ Seq.fill(9)(randomBytes(random, width))).toIndexedSeq
    }
  }

  /** Infinities, and numbers that are none, with both signs. */
  private def infinities(kind: ElementType): Seq[Array[Byte]] = kind.kind() match {
    case ElementType.Kind.F16 => Seq("007c", "00fc", "017c", "01fe").map(hex)
    case ElementType.Kind.BF16 => Seq("807f", "80ff", "817f", "c0ff").map(hex)
    case ElementType.Kind.F32 => Seq("0000807f", "000080ff", "0100807f", "0000c0ff").map(hex)
    case ElementType.Kind.F64 =>
      Seq("000000000000f07f", "000000000000f0ff", "010000000000f07f", "000000000000f8ff").map(hex)
    case _ => Nil
  }

  private def hex(text: String): Array[Byte] =
    text.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray

  private def randomBytes(random: Random, width: Int): Array[Byte] = {
    val bytes = new Array[Byte](width)
    random.nextBytes(bytes)
    bytes
  }

  private def littleEndian(value: java.math.BigInteger, width: Int): Array[Byte] = {
    val big = value.toByteArray
    val fill: Byte = if (value.signum() < 0) -1 else 0
    Array.tabulate(width)(i => if (i < big.length) big(big.length - 1 - i) else fill)
  }
}
