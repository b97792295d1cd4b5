package io.zrecord.spark

import java.nio.file.{Files, Paths}

import io.zrecord.inspect.DatasetInspection
import io.zrecord.rebalance.TableRelayout
import io.zrecord.rebalance.order.RecordOrder
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.store.{RecordStore, StoreOptions}
import io.zrecord.table.RecordTable
import org.apache.spark.sql.{DataFrame, Row}

/** Data frames about datasets. */
class ViewSuite extends SparkSuite {

  /** Writes two versions: three shards of 100 records, then one of 10. */
  private def table(): String = {
    val path = freshPath()
    write(spark.range(0, 300, 1, 3).selectExpr("id", "concat('t', id) text"), path, "append")
    write(spark.range(300, 310, 1, 1).selectExpr("id", "concat('t', id) text"), path, "append")
    path
  }

  private def view(path: String, name: String, options: (String, String)*): DataFrame =
    read(path, options :+ ("view" -> name): _*)

  private def column[T](data: DataFrame, name: String): Seq[T] =
    data.select(name).collect().toSeq.map(_.getAs[T](0))

  /** Returns the columns and their types, as in the documentation. */
  private def columns(data: DataFrame): String =
    data.schema.fields.map(f => s"${f.name} ${f.dataType.sql.toLowerCase}").mkString(", ")

  private val space = "bytes bigint, live_bytes bigint, dead_bytes bigint, padding_bytes bigint, " +
    "byte_utilization double, written_records bigint, live_records bigint, record_utilization double"
  private val fragmentation = "pairs bigint, scattered_pairs bigint, mean_jump_bytes double, " +
    "spanned_bytes bigint, scan_cost double"

  testLocally("chunks are those of the files, and add up") {
    val path = table()
    val chunks = view(path, "chunks")
    assert(
      columns(chunks) ==
        s"shard string, chunk bigint, file string, $space, field_bytes map<string, bigint>"
    )
    val rows = chunks.collect()
    assert(rows.length == 4)
    rows.foreach { row =>
      val file = Paths.get(path, row.getAs[String]("file"))
      assert(Files.size(file) == row.getAs[Long]("bytes"))
      assert(row.getAs[String]("file").contains(row.getAs[String]("shard")))
    }
    val sums = chunks
      .selectExpr("sum(bytes)", "sum(live_bytes + dead_bytes + padding_bytes)", "sum(dead_bytes)")
      .head()
    assert(sums.getLong(0) == sums.getLong(1) && sums.getLong(2) == 0)
    // 8 bytes an id, and the texts t0 to t309.
    val texts = (0 until 310).map(id => s"t$id".length).sum
    assert(chunks.selectExpr("sum(live_bytes)").head().getLong(0) == 310 * 8 + texts)
    assert(chunks.where("record_utilization < 1").isEmpty)
  }

  testLocally("the rows are what the engine says, whatever the number of partitions") {
    val path = table()
    val usage = DatasetInspection.of(path).run(_ => ())
    for (partitions <- Seq("1", "2", "100")) {
      val shards = view(path, "shard_usage", "numPartitions" -> partitions)
      assert(shards.rdd.getNumPartitions == math.min(partitions.toInt, 4))
      assert(shards.selectExpr("sum(live_bytes)").head().getLong(0) == usage.space.liveBytes)
      assert(column[Long](shards.orderBy("first_index"), "first_index") == Seq(0, 100, 200, 300))
      assert(column[Long](shards.orderBy("first_index"), "records") == Seq(100, 100, 100, 10))
    }
    assert(
      columns(view(path, "shard_usage")) ==
        s"shard string, first_index bigint, records bigint, chunks bigint, $space, $fragmentation"
    )
  }

  test("fields have a row in every shard") {
    val path = table()
    write(
      spark.range(5).selectExpr("id", "1.5D more"),
      path,
      "append",
      "mergeSchema" -> "true"
    )
    val fields = view(path, "field_usage")
    assert(
      columns(fields) == "shard string, first_index bigint, field_id bigint, field string, " +
        "type string, compression string, records bigint, absent bigint, live_bytes bigint, " +
        s"padding_bytes bigint, $fragmentation"
    )
    val sums = fields
      .groupBy("field")
      .agg(Map("records" -> "sum", "absent" -> "sum"))
      .selectExpr("field", "`sum(records)` r", "`sum(absent)` a")
      .orderBy("field")
    assert(
      sums.collect().toSeq == Seq(Row("id", 315, 0), Row("more", 315, 310), Row("text", 315, 5))
    )
  }

  test("columns are pruned, conditions and counts are Spark's") {
    val path = table()
    val chunks = view(path, "chunks")
    assert(chunks.count() == 4)
    assert(chunks.select("bytes").where("bytes > 1000").count() == 3)
    assert(chunks.select("file", "chunk").columns.toSeq == Seq("file", "chunk"))
    chunks.createOrReplaceTempView("chunks")
    assert(
      spark.sql("select max(byte_utilization) from chunks where chunk = 0").head().getDouble(0) < 1
    )
    assert(chunks.limit(2).collect().length == 2)
  }

  test("older versions have views, and appends do not change one that was loaded") {
    val path = table()
    tableAt(path).tag(0, "first")
    val newest = view(path, "shard_usage")
    write(spark.range(0, 5, 1, 1).selectExpr("id", "'x' text"), path, "append")
    assert(newest.count() == 4)
    assert(view(path, "shard_usage").count() == 5)
    assert(view(path, "shard_usage", "versionAsOf" -> "0").count() == 3)
    assert(view(path, "files", "tag" -> "first").where("kind = 'chunk'").count() == 3)
    assert(failure(view(path, "chunks", "versionAsOf" -> "9").count()).contains("the versions are"))
    assert(failure(view(path, "versions", "versionAsOf" -> "0").count()).contains("all of them"))
  }

  test("versions say who did what") {
    val path = table()
    tableAt(path).tag(1, "b")
    tableAt(path).tag(1, "a")
    write(spark.range(7).selectExpr("id", "'x' text"), path, "overwrite")
    val all = view(path, "versions").orderBy("version")
    assert(column[String](all, "operation").slice(2, 4) == Seq("tag", "tag"))
    val versions = all.where("operation <> 'tag'")
    assert(
      columns(versions) == "version bigint, timestamp timestamp, operation string, " +
        "application_id string, user string, added_records bigint, added_bytes bigint, " +
        "removed_records bigint, removed_bytes bigint, records bigint, shards bigint, " +
        "tags array<string>, parent bigint, commit_id string, " +
        "transactions map<string, bigint>, properties map<string, string>"
    )
    val rows = versions.collect().toSeq
    assert(rows.map(_.getAs[Long]("version")) == Seq(0, 1, 4))
    assert(rows.map(_.getAs[Long]("records")) == Seq(300, 310, 7))
    assert(rows.map(_.getAs[Long]("shards")) == Seq(3, 4, rows(2).getAs[Long]("shards")))
    assert(rows.map(_.getAs[Long]("added_records")) == Seq(300, 10, 7))
    assert(rows.map(_.getAs[Long]("removed_records")) == Seq(0, 0, 310))
    assert(rows.map(_.getAs[String]("operation")).tail == Seq("append", "overwrite"))
    assert(
      rows.map(_.getAs[scala.collection.Seq[String]]("tags").toSeq) == Seq(Nil, Seq("a", "b"), Nil)
    )
    assert(rows.forall(_.getAs[String]("application_id") == spark.sparkContext.applicationId))
    assert(rows.forall(_.getAs[String]("user") == spark.sparkContext.sparkUser))
    val added =
      view(path, "chunks", "versionAsOf" -> "0").selectExpr("sum(bytes)").head().getLong(0)
    assert(rows.head.getAs[Long]("added_bytes") == added)
    val replaced =
      view(path, "chunks", "versionAsOf" -> "1").selectExpr("sum(bytes)").head().getLong(0)
    assert(rows.map(_.getAs[Any]("removed_bytes")) == Seq(0L, 0L, replaced))
    val millis = tableAt(path).version(1).timestamp.toEpochMilli
    assert(rows(1).getAs[java.sql.Timestamp]("timestamp").getTime == millis)
  }

  testLocally("files are those that a version names, with their lengths") {
    val path = table()
    val files = view(path, "files")
    assert(
      columns(files) ==
        "file string, kind string, shard string, bytes bigint, path string, fields array<string>"
    )
    val named = files.collect().map(row => row.getString(0) -> row.getLong(3)).toMap
    val present = filesBelow(path).map(f => Paths.get(path).relativize(f).toString).toSet
    assert(named.keySet == present - "manifest/00000000000000000000.json" - "manifest/latest")
    named.foreach { case (name, bytes) => assert(Files.size(Paths.get(path, name)) == bytes) }
    assert(
      column[String](files.select("kind").distinct().orderBy("kind"), "kind") ==
        Seq("chunk", "manifest", "tables")
    )
    val orphan = Paths.get(path, "shard", "orphan")
    Files.write(orphan, Array[Byte](1))
    val gone = Paths.get(path, named.keys.filter(_.endsWith(".tables")).head)
    Files.delete(gone)
    assert(view(path, "files").count() == named.size)
    assert(view(path, "files").where("bytes is null").count() == 1)
  }

  test("the map of indices of a version in another order is among its files") {
    val path = table()
    val snapshot = tableAt(path).latest()
    val map = TableRelayout.of(snapshot, RecordOrder.shuffle(7)).run().indexMap()
    val files = view(path, "files").where(s"file like '$map/%'")
    val stored = filesOf(path)
    val present = stored.names.filter(_.startsWith(s"$map/"))
    assert(present.nonEmpty)
    assert(
      files.collect().map(row => row.getString(0) -> row.getLong(3)).toMap ==
        present.map(name => name -> stored.storage.lengthBytes(name)).toMap
    )
    assert(view(path, "files", "versionAsOf" -> "1").where(s"file like '$map/%'").isEmpty)
  }

  testLocally("a store that is written has views of what is committed") {
    val path = freshPath()
    val schema = RecordSchema.builder().field("text", ElementType.UTF8).build()
    val store = RecordStore.create(Paths.get(path), schema, StoreOptions.defaults().withWriters(1))
    try {
      Seq(5, 16, 1).foreach(n => store.append(store.newValues().set("text", "x" * n)))
      store.update(1, store.newValues().set("text", "y" * 10))
      store.delete(0)
      store.commit()
      store.append(store.newValues().set("text", "later"))
      val chunk = view(path, "chunks").drop("shard", "field_bytes").head()
      assert(chunk == Row(0, "chunk/0.zr", 106, 11, 24, 71, 11.0 / 106, 4, 2, 0.5))
      assert(view(path, "shard_usage").selectExpr("records", "dead_bytes").head() == Row(2, 24))
      assert(view(path, "field_usage").selectExpr("field", "absent").head() == Row("text", 0))
      for (name <- Seq("versions", "files", "tags"))
        assert(failure(view(path, name)).contains("has no versions"))
      assert(failure(view(path, "chunks", "versionAsOf" -> "0")).contains("no versions"))
    } finally store.close()
  }

  test("an unknown view, and options that do not go with one") {
    val path = table()
    val unknown = failure(view(path, "chunk"))
    assert(unknown.contains("view has the value 'chunk'"))
    assert(unknown.contains("chunks, shards, fields, versions, files"))
    assert(view(path, " Chunks ").count() == 4)
    for (
      (key, value) <- Seq(
        "sampler" -> "shuffle",
        "indices" -> "1",
        "batchRows" -> "7",
        "seed" -> "1"
      )
    )
      assert(
        failure(view(path, "chunks", key -> value).count()).contains(s"Option $key does not go")
      )
    assert(failure(view(path, "chunks", "vew" -> "1").count()).contains("unknown option vew"))
    val two = spark.read.format("zrecord").option("view", "chunks")
    assert(failure(two.load(path, table())).contains("2 datasets"))
    val ofTable = spark.read.option("view", "chunks").table(s"zrecord.`$path`")
    assert(failure(ofTable.count()).contains("name the metadata table in SQL"))
    assert(failure(view("/data/trian", "chunks")).contains("/data/trian"))
  }

  test("a default of the session that is about records does not keep from reading a view") {
    val path = table()
    spark.conf.set("spark.datasource.zrecord.batchRows", "100")
    try assert(view(path, "chunks").count() == 4)
    finally spark.conf.unset("spark.datasource.zrecord.batchRows")
  }

  test("a view cannot be written") {
    val path = table()
    val data = spark.range(3).selectExpr("id", "'x' text")
    for (mode <- Seq("append", "overwrite", "errorifexists", "ignore")) {
      val message = failure(write(data, path, mode, "view" -> "chunks"))
      assert(message.contains("writing to the metadata table chunks"), s"$mode: $message")
    }
    assert(read(path).count() == 310)
  }

  testLocally("damaged places are an error that names the file") {
    val path = table()
    val tables = filesBelow(path).filter(_.toString.endsWith(".tables")).head
    val bytes = Files.readAllBytes(tables)
    bytes(sectionOf(tables, 2, "offsets") + 6) = 1
    Files.write(tables, bytes)
    assert(failure(view(path, "chunks").collect()).contains(tables.toString))
  }
}
