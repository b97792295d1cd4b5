package io.zrecord.spark

import java.nio.file.{Files, Paths}
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{
  Codec,
  Compression,
  ElementType,
  FieldSpec,
  NestedType,
  RecordSchema,
  Shape
}
import io.zrecord.findings.{CheckSummary, Finding}
import io.zrecord.shard.{ShardSummary, WriteOptions}
import io.zrecord.table.{IndexMap, RecordTable, TableChange}
import io.zrecord.table.write.ShardWriter
import io.zrecord.verify.DatasetCheck
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.Row

/** A check of a table by Spark finds the same as the engine alone. */
class VerifySuite extends SparkSuite {
  private def table(): String = {
    val path = freshPath()
    write(
      spark
        .range(0, 400, 1, 4)
        .selectExpr("id", "if(id % 5 = 0, null, repeat(concat('text ', id), 20)) text"),
      path,
      "append",
      "compression.text" -> "zstd"
    )
    path
  }

  private def shard(path: String, ordinal: Int): ShardSummary =
    tableAt(path).latest().shards().get(ordinal)

  private def check(path: String): DatasetCheck = DatasetCheck.of(filesOf(path).storage)

  /** Flips a bit of the last value of the first shard. */
  private def damage(path: String): Unit = {
    val files = filesOf(path)
    files.flip(files.chunk(shard(path, 0)), -9)
  }

  /** Returns what the engine finds alone: problems and their places, and the summary. */
  private def alone(
      path: String,
      check: DatasetCheck
  ): (Set[(String, Long, Long)], CheckSummary) = {
    val found = Set.newBuilder[(String, Long, Long)]
    val summary =
      check.run((finding: Finding) =>
        found += ((
          finding.problem(),
          if (finding.count() == 0) -1 else finding.firstIndex(),
          finding.count()
        ))
      )
    (found.result(), summary)
  }

  private def distributed(verify: Verify): (Set[(String, Long, Long)], CheckSummary) = {
    val found = verify.findings().select("reason", "index", "count").collect().map { row =>
      (row.getString(0), if (row.isNullAt(1)) -1L else row.getLong(1), row.getLong(2))
    }
    (found.toSet, verify.run())
  }

  test("a table that is sound") {
    val path = table()
    write(read(path).where("_index < 100"), path, "append")
    val verify = Verify.of(spark, path)
    val summary = verify.run()
    assert(summary.isSound)
    assert(summary.recordCount() == 500 && summary.valueCount() == 1000)
    assert(verify.badValues().count() == 0)
    assert(distributed(verify) == alone(path, check(path)))
  }

  test("damaged, cut and missing files are rows, and no task fails") {
    val path = table()
    val (files, shards) = (filesOf(path), (0 until 4).map(shard(path, _)))
    files.flip(files.chunk(shards(0)), -9)
    files.cut(files.chunk(shards(1)))
    files.delete(files.tables(shards(2)))
    files.cut(files.tables(shards(3)))
    files.storage.publish("manifest/00000000000000000007.json", Array[Byte](1, 2))
    val failed = new AtomicInteger()
    listening(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        if (!end.taskInfo.successful) failed.incrementAndGet()
    }) {
      val verify = Verify.of(spark, path)
      val (findings, summary) = distributed(verify)
      assert((findings, summary) == alone(path, check(path)))
      assert(!summary.isSound && summary.badValueCount() > 50)

      val bad = verify.badValues()
      val flipped = bad.where(s"shard = '${shards(0).id}'").collect().toSeq
      assert(flipped.size == 1)
      val value = flipped.head
      assert(value.getAs[String]("field") == "text")
      // The block of the flipped byte has all values of the shard.
      assert(value.getAs[Long]("index") == 0 && value.getAs[Long]("count") == 100)
      assert(value.getAs[String]("kind") == "value" && value.getAs[Boolean]("damage"))
      val chunk = files.chunk(shards(0))
      assert(value.getAs[String]("file") == files.storage.pathOf(chunk))
      val end = value.getAs[Long]("offset") + value.getAs[Long]("length")
      val length = files.storage.lengthBytes(chunk)
      assert(end > length - 9 && end <= length)
      // A shard without its tables file has lost all its records.
      val lost = bad.where(s"shard = '${shards(2).id}'").select("index", "count")
      assert(lost.collect().toSeq == Seq(Row(200L, 100L)))
    }
    assert(failed.get() == 0)
  }

  test("values of a chunk that is lost are stretches") {
    val path = table()
    val files = filesOf(path)
    files.delete(files.chunk(shard(path, 1)))
    val bad = Verify.of(spark, path).badValues().where("field = 'text'")
    assert(bad.select("index", "count").collect().toSeq == Seq(Row(100L, 100L)))
  }

  test("versions and tags") {
    val path = table()
    val (files, first) = (filesOf(path), shard(path, 0))
    tableAt(path).tag(0, "first")
    write(spark.range(0, 50, 1, 2).selectExpr("id", "'x' text"), path, "overwrite")
    files.flip(files.chunk(first), -9)
    assert(Verify.of(spark, path).run().isSound)
    assert(Verify.of(spark, path).version(2).run().isSound)
    assert(Verify.of(spark, path).version(0).run().badValueCount() == 100)
    assert(Verify.of(spark, path).tag("first").badValues().count() == 1)
    val all = Verify.of(spark, path).allVersions()
    assert(distributed(all) == alone(path, check(path).allVersions()))
    assert(failure(Verify.of(spark, path).version(5).run()).contains("Cannot check version 5"))
    assert(failure(Verify.of(spark, path).tag("none")).contains("There is no tag 'none'"))
    assert(failure(Verify.of(spark, freshPath()).run()).contains("no such directory"))
  }

  test("what is asked of one check is of the same versions") {
    val path = table()
    damage(path)
    val check = Verify.of(spark, path).begin()
    assert(!check.run().summary().isSound)
    write(spark.range(0, 50, 1, 2).selectExpr("id", "'x' text"), path, "overwrite")
    assert(check.badValues().count() == 1)
    assert(Verify.of(spark, path).badValues().count() == 0)
  }

  test("what is expired and swept meanwhile is not missed") {
    val path = table()
    val swept = (0 until 4).map(shard(path, _))
    val check = Verify.of(spark, path).begin()
    write(spark.range(0, 50, 1, 2).selectExpr("id", "'x' text"), path, "overwrite")
    val files = filesOf(path)
    swept.foreach(shard =>
      files.names.filter(_.startsWith(shard.directory())).foreach(files.delete)
    )
    // Of each shard, a chunk and the tables file are missing.
    assert(check.run().summary().damageCount() == 8, "the control: the version is still there")
    commitExpiry(path)
    files.delete("manifest/00000000000000000000.json")
    val summary = check.run().summary()
    assert(summary.isSound && summary.noteCount() == 4)
    assert(check.badValues().count() == 0)
  }

  /** Publishes version 2 on top of the overwrite 1: an expiry of version 0, which is too young. */
  private def commitExpiry(path: String): Unit = {
    def manifest(version: Int) = f"manifest/$version%020d.json"
    val overwrite = new String(filesOf(path).bytes(manifest(1)), "UTF-8")
    val commit = """"commit":"([^"]*)"""".r.findFirstMatchIn(overwrite).get.group(1)
    val millis = """"timestampMillis":(\d+)""".r.findFirstMatchIn(overwrite).get.group(1).toLong
    val expiry = Seq(
      """"version":1""" -> """"version":2""",
      """"commit":"[^"]*"""" -> s""""commit":"${UUID.randomUUID()}"""",
      """"previous":"[^"]*"""" -> s""""previous":"$commit"""",
      """"base":0""" -> """"base":1""",
      """"oldest":0""" -> """"oldest":1""",
      """"timestampMillis":\d+""" -> s""""timestampMillis":${millis + 1}""",
      """"operation":"overwrite"""" -> """"operation":"expire""""
    ).foldLeft(overwrite.dropRight(22)) { case (json, (member, replacement)) =>
      member.r.replaceFirstIn(json, replacement)
    }
    filesOf(path).storage.publish(manifest(2), sealedJson(expiry))
  }

  test("schemas travel once, whatever their fields carry") {
    val path = freshPath()
    val attribute = java.util.Map.of("prompt", "x" * 400000)
    val schema = new RecordSchema(
      java.util.Collections.singletonList(
        new FieldSpec(
          1,
          "id",
          ElementType.I64,
          Shape.scalar(),
          Compression.of(Codec.RAW),
          attribute
        )
      )
    )
    (0 until 3).foreach { version =>
      val writer =
        RecordDatasetWriter.append(filesOf(path).storage, schema, WriteOptions.defaults())
      try {
        (0 until 5).foreach(i => writer.newAppender().set("id", i + version).endRecord())
        writer.commit()
      } finally writer.close()
    }
    val check = Verify.of(spark, path).allVersions().begin()
    assert(check.messages().size() == 15)
    check.messages().forEach(message => assert(message.length < 5000))
    val summary = check.run().summary()
    assert(summary.isSound && summary.recordCount() == 15)
    assert(check.findings().count() == 0)
  }

  test("an index map is checked by a task") {
    val path = freshPath()
    write(spark.range(0, 400, 1, 4).toDF("id"), path, "append")
    val files = filesOf(path)
    val storage = files.storage
    val before = RecordTable.at(storage).latest()
    val writer =
      ShardWriter.create(storage, UUID.randomUUID(), IndexMap.SCHEMA, WriteOptions.defaults())
    val map =
      try {
        (0 until 400).foreach { i =>
          writer.putLong(0, if (i == 7) 8 else i)
          writer.endRecord()
        }
        writer.finish().get()
      } finally writer.close()
    RecordTable
      .at(storage)
      .commit(TableChange.relayout(before, before.shards(), map, java.util.Map.of()))
    val verify = Verify.of(spark, path)
    assert(verify.begin().messages().size() == 5)
    val (findings, summary) = distributed(verify)
    assert(findings.exists(_._1.contains("more than one record has the new index 8")))
    assert(summary.recordCount() == 400)
    assert((findings, summary) == alone(path, check(path)))

    // Damage of the map is not damage of a value.
    val newest = RecordTable.at(storage).latest()
    val mapped = newest.indexMap().get().shard()
    def requireNoBadValue(): Unit = {
      val (found, counted) = distributed(verify)
      assert((found, counted) == alone(path, check(path)))
      assert(!counted.isSound && counted.badValueCount() == 0)
      assert(found.forall(_._2 == -1))
      val kinds = verify.findings().where("damage").select("kind").distinct().collect()
      assert(kinds.toSeq == Seq(Row("index_map")))
      assert(verify.badValues().count() == 0)
    }
    val chunk = files.chunk(mapped)
    val intact = files.bytes(chunk)
    files.flip(chunk, -9)
    requireNoBadValue()
    files.change(chunk)(_ => intact)
    files.delete(files.tables(mapped))
    requireNoBadValue()
  }

  test("the command and its exit codes") {
    val path = table()
    def run(arguments: String*): CommandInProcess =
      CommandInProcess.run(new VerifyJob(), arguments: _*)
    val sound = run(path)
    assert(sound.exitCode == 0, sound.err)
    assert(sound.out.matches("""\{"sound":true,.*"records":400,"values":800,.*\}\n"""), sound.out)
    damage(path)
    val list = freshPath()
    val damaged =
      SubmittedProcess.start("io.zrecord.spark.Verify", path, "--bad-values", list)
    assert(damaged.exitCode() == 1, damaged.err)
    assert(damaged.out.contains(""""badValues":100"""), damaged.out)
    assert(damaged.err.contains("field 'text', records 0 to 99"))
    assert(spark.read.json(list).select("index", "count").head() == Row(0L, 100L))
    // The error comes before anything is checked.
    val taken = run(path, "--bad-values", list)
    assert(taken.exitCode == 2 && taken.out.isEmpty && taken.err.contains("it exists"), taken.err)
    val file = Files.createFile(Paths.get(freshLocalPath()))
    val below = run(path, "--bad-values", file.resolve("list").toString)
    assert(below.exitCode == 2 && below.out.isEmpty, below.err)
    assert(below.err.contains("name a directory that can be created"), below.err)
    assert(run(path, "--version", "7").exitCode == 2)
    assert(run(path, "--version", "0", "--tag", "x").exitCode == 2)
  }

  test("it is said if a shard has more bad values than are listed") {
    val path = freshPath()
    val words = ElementType.nested(new NestedType.ListOf(NestedType.of(ElementType.UTF8)))
    val schema = RecordSchema.builder().field("words", words).build()
    val writer =
      RecordDatasetWriter.create(filesOf(path).storage, schema, WriteOptions.defaults())
    try {
      // Well stored, but no list of strings.
      val wrong = new Array[Byte](16)
      val records = writer.newAppender().shard()
      (0 until 100200).foreach { _ =>
        records.put(0, wrong, 0, wrong.length)
        records.endRecord()
      }
      writer.commit()
    } finally writer.close()
    val list = freshPath()
    val run = CommandInProcess.run(new VerifyJob(), path, "--bad-values", list)
    assert(run.exitCode == 1, run.err)
    assert(run.out.contains(""""badValues":100200"""), run.out)
    assert(run.err.contains("lacks 200 findings"), run.err)
    assert(spark.read.json(list).count() == 100000)
  }
}
