package io.zrecord.spark

import io.zrecord.spark.job.KeySort
import java.nio.{ByteBuffer, ByteOrder}
import java.util.concurrent.atomic.AtomicLong

import scala.util.Random

import io.zrecord.{RecordDataset, RecordDatasetWriter}
import io.zrecord.errors.CorruptDataException
import io.zrecord.rebalance.order.{Direction, RecordOrder}
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}

/** Spark sorts records by a field as one process does. */
class RelayoutSortSuite extends RelayoutTables {
  private def withConf(values: (String, String)*)(action: => Any): Unit = {
    val before = values.map { case (key, _) => key -> spark.conf.getOption(key) }
    values.foreach { case (key, value) => spark.conf.set(key, value) }
    try action
    finally
      before.foreach { case (key, value) =>
        value.fold(spark.conf.unset(key))(spark.conf.set(key, _))
      }
  }

  test(s"every type is sorted as in one process, in both directions ($seed)") {
    val path = freshPath()
    val random = new Random(seed)
    val schema = ExtremeValues.types.foldLeft(RecordSchema.builder()) {
      case (builder, (name, kind)) =>
        builder.field(name, kind)
    }
    val writer =
      RecordDatasetWriter.create(filesOf(path).storage, schema.build(), WriteOptions.defaults())
    try {
      val pools = ExtremeValues.types.map { case (name, kind) =>
        name -> ExtremeValues.of(kind, random)
      }
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
    val version = snapshot(path)
    val dataset = RecordDataset.open(version, RecordDataset.ReadOptions.defaults())
    for ((name, _) <- ExtremeValues.types; direction <- Direction.values()) {
      val order = new RecordOrder.ByField(name, direction)
      val expected = new Array[Long](450)
      order.arrange(dataset).oldIndices(0, expected, 450)
      val sorted = KeySort.sorted(spark, version, order).collect().map(_.getLong(0))
      assert(sorted.toSeq == expected.toSeq, s"$name $direction")
      assert(sorted.toSeq != (0L until 450L), name)
    }
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
    // With whole values, each task would send samples of some megabytes.
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
      val path = freshPath()
      val schema = names.foldLeft(RecordSchema.builder())(_.field(_, ElementType.I8))
      val writer =
        RecordDatasetWriter.create(filesOf(path).storage, schema.build(), WriteOptions.defaults())
      try {
        val appender = writer.newAppender()
        Seq[Byte](2, 3, 1).foreach { value =>
          appender.set(names(0), Array[Byte](0)).set(names(1), Array(value)).endRecord()
        }
        writer.commit()
      } finally writer.close()
      path
    }
    val cased = dataset("label", "Label")
    val result = relayout(cased, RecordOrder.by("Label", Direction.ASCENDING)).run()
    assert(newIndices(result.snapshot().indexMap().get()) == Seq(1, 2, 0))
    Seq("_index", "_POSITION").foreach { name =>
      val hiding = dataset(name, "id")
      assert(failure(read(hiding).collect()).contains("metadata column"))
      val sorted = relayout(hiding, RecordOrder.by("id", Direction.DESCENDING)).run()
      assert(newIndices(sorted.snapshot().indexMap().get()) == Seq(1, 0, 2))
    }
    val refused = intercept[IllegalArgumentException](
      relayout(dataset("_index", "id"), RecordOrder.by("_index", Direction.DESCENDING)).run()
    )
    assert(refused.getMessage.contains("metadata column"), refused)
    val written = failure(write(spark.range(1).selectExpr("id _Position"), freshPath(), "append"))
    assert(written.contains("metadata column"), written)
  }

  test("a damaged key is found by the sort") {
    val path = write(1000)
    val shards = snapshot(path).shards()
    val files = filesOf(path)
    val first = shards.get(0).length() + shards.get(1).length()
    val keys =
      ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(first).putLong(first + 1)
    files.change(files.chunk(shards.get(2))) { bytes =>
      val place = bytes.indexOfSlice(keys.array().toIndexedSeq)
      bytes(place) = (bytes(place) ^ 1).toByte
      bytes
    }
    val order = new RecordOrder.ByField("id", Direction.DESCENDING)
    assert(failure(KeySort.sorted(spark, snapshot(path), order).collect()).contains("checksum"))
    val error = intercept[CorruptDataException](relayout(path, order).run())
    assert(error.getMessage.contains("checksum"), error)
    requireNoOrphan(path)
    val said = command(path, "--order-by=id", "--change-indices")
    assert(said.exitCode == 1 && said.err.contains("checksum"), said)
  }
}
