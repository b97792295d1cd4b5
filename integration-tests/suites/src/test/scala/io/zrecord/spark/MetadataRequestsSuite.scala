package io.zrecord.spark

import java.util.{Collections, Optional, OptionalLong, UUID}

import scala.collection.JavaConverters._

import io.zrecord.internal.table.{Manifest, ManifestLog, RecordsVersion}
import io.zrecord.shard.{ChunkFile, ShardSummary, TablesRef}
import io.zrecord.spark.CountingFileSystem.Request
import org.apache.spark.sql.Row

/** What metadata tables ask of a storage, and of the driver if there are many shards. */
class MetadataRequestsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it counts the requests to a file system of its own"

  override protected def configuration: Map[String, String] = CountingFileSystem.Settings

  private def opened(path: String, view: String, columns: String = "*"): Seq[Request] =
    CountingFileSystem
      .requestsOf(spark.sql(s"select $columns from zrecord.`$path`.$view").collect())
      .filter(_.name == "open")

  /** Returns a shard that a list has, and of which there is no file. */
  private def shardWithoutFiles(number: Int, value: String): ShardSummary = new ShardSummary(
    new UUID(number.toLong + 1, 1),
    10,
    Collections.singletonList(ChunkFile.of(new UUID(number.toLong + 1, 2), 1000)),
    Collections.singletonList(
      new TablesRef(
        new UUID(number.toLong + 1, 3),
        416,
        300,
        100,
        7,
        java.util.Arrays.asList[Integer](1, 2)
      )
    ),
    new java.util.TreeMap[Integer, java.lang.Long](
      Map[Integer, java.lang.Long](
        Integer.valueOf(1) -> java.lang.Long.valueOf(80),
        Integer.valueOf(2) -> java.lang.Long.valueOf(40)
      ).asJava
    ),
    Collections.singletonList(value),
    null,
    ""
  )

  /** Publishes a version with shards of which there are lists only. A commit looks for the files.
    */
  private def publish(path: String, shards: Seq[ShardSummary]): Unit = {
    val log = new ManifestLog(filesOf(path).storage)
    val before = log.newest().get
    val commit = UUID.randomUUID()
    val written = log.writeLists(shards.dropRight(10).asJava, new java.util.ArrayList[String]())
    val manifest = new Manifest(
      Manifest.Head.after(
        Optional.of(before),
        commit,
        OptionalLong.of(before.version),
        System.currentTimeMillis(),
        "append",
        Collections.emptyMap()
      ),
      before.schema,
      before.partitions,
      before.declarations,
      before.nextFieldId,
      written,
      shards.takeRight(10).asJava,
      Collections.emptyMap(),
      Optional.empty(),
      new Manifest.Retention(
        new RecordsVersion(before.version + 1, commit),
        before.oldest,
        Collections.emptyList()
      )
    )
    assert(log.publish(manifest))
    log.leaveHint(manifest)
  }

  test("metadata tables open what they need: manifests, lists, and shards in tasks") {
    val path = "count://" + freshLocalPath()
    write(spark.range(0, 40, 1, 4).selectExpr("id", "concat('t', id) text"), path, "append")
    tableAt(path).tag(0, "first")
    for (view <- Seq("versions", "tags", "fields", "shards", "partitions", "files")) {
      val files = opened(path, view)
      assert(files.nonEmpty && files.forall(!_.path.contains("/shard/")), s"$view: $files")
    }
    // What a process has opened stays open, so the first of these opens files, and the others none.
    val ofShards = Seq("chunks", "shard_usage", "field_usage")
      .flatMap(opened(path, _))
      .filter(_.path.contains("/shard/"))
    assert(ofShards.nonEmpty && ofShards.forall(_.isOfTask), ofShards)
  }

  test("3,000 shards, of which there are lists only, are told by tasks of 1,000 at most") {
    val path = "count://" + freshLocalPath()
    spark
      .range(0)
      .selectExpr("id", "cast(id as int) p")
      .write
      .format("zrecord")
      .partitionBy("p")
      .save(path)
    publish(path, (0 until 3000).map(i => shardWithoutFiles(i, (i % 1500).toString)))
    // Versions, tags and fields are told without the lists of shards.
    for (view <- Seq("versions", "tags", "fields")) {
      val files = opened(path, view)
      assert(files.forall(file => file.path.contains("/manifest/")), s"$view: $files")
    }
    assert(
      spark
        .sql(s"select shards, records from zrecord.`$path`.versions where version = 1")
        .collect()
        .toSeq == Seq(Row(3000, 30000))
    )
    val lists = opened(path, "shards").filter(_.path.contains("/list/"))
    assert(lists.nonEmpty)
    assert(opened(path, "shards").forall(!_.path.contains("/shard/")))
    val all = spark.sql(
      s"select count(*), sum(records), sum(bytes), sum(tables_bytes), max(ordinal), " +
        s"max(first_index), sum(value_bytes['id']), max(size(fields)) from zrecord.`$path`.shards"
    )
    assert(
      all.head() == Row(3000, 30000, 3000000, 1248000, 2999, 29990, 240000, 2)
    )
    assert(
      spark
        .sql(s"select count(*), sum(shards), sum(records) from zrecord.`$path`.partitions")
        .head() == Row(1500, 3000, 30000)
    )
    val frame = spark.table(s"zrecord.`$path`.shards")
    assert(frame.select("ordinal").rdd.getNumPartitions >= 3)
    assert(read(path, "view" -> "shards", "numPartitions" -> "50").rdd.getNumPartitions == 50)
  }
}
