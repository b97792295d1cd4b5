package io.zrecord.spark

import org.apache.spark.sql.Row

class SchemaSuite extends SparkSuite {
  test("append matches columns by name") {
    val path = freshPath()
    write(spark.range(3).selectExpr("id as a", "cast(id as string) as b"), path, "append")
    write(spark.range(3).selectExpr("cast(id as string) as b", "id + 10 as a"), path, "append")
    assert(
      rows(read(path)).map(r => (r.getLong(0), r.getString(1))) ==
        Seq((0L, "0"), (1L, "1"), (2L, "2"), (10L, "0"), (11L, "1"), (12L, "2"))
    )
  }

  test("append says every mismatch at once and writes nothing") {
    val path = freshPath()
    write(spark.range(3).selectExpr("id as a", "1 as b", "'x' as c"), path, "append")
    val message = failure(
      write(
        spark.range(3).selectExpr("cast(id as string) a", "1.5f as b", "2 as d"),
        path,
        "append"
      )
    )
    for (name <- Seq("'a'", "'b'", "'c'", "'d'")) assert(message.contains(name))
    assert(read(path).count() == 3)
  }

  test("mergeSchema adds fields that are absent in older records") {
    val path = freshPath()
    write(spark.range(2).selectExpr("id as a"), path, "append")
    write(spark.range(2).selectExpr("id as b"), path, "append", "mergeSchema" -> "true")
    assert(
      rows(read(path)) == Seq(
        Row(0L, null, 0L),
        Row(1L, null, 1L),
        Row(null, 0L, 2L),
        Row(null, 1L, 3L)
      )
    )
    assert(read(path, "versionAsOf" -> "0").columns.toSeq == Seq("a"))
  }

  test("nullability is a matter of the data, not of the flag") {
    val path = freshPath()
    write(spark.range(2).toDF("id"), path, "append")
    assert(read(path).schema("id").nullable)
    write(spark.range(2).selectExpr("cast(null as bigint) as id"), path, "append")
    assert(read(path).where("id is null").count() == 2)
  }

  test("a transaction takes effect once") {
    val path = freshPath()
    val data = spark.range(5).toDF("id")
    for (version <- Seq("1", "1", "2", "1"))
      write(data, path, "append", "txnAppId" -> "job", "txnVersion" -> version)
    assert(read(path).count() == 10)
    write(data, path, "append", "txnAppId" -> "other", "txnVersion" -> "1")
    assert(read(path).count() == 15)
  }

  test("a scan is pinned to its version") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    val before = read(path)
    before.collect()
    write(spark.range(7).toDF("other"), path, "overwrite")
    assert(before.collect().length == 5)
    assert(read(path).count() == 7)
  }

  test("options of the layout are followed and reading does not depend on them") {
    val data = spark
      .range(0, 5000, 1, 2)
      .selectExpr("id", "cast(id as string) s", "if(id % 3 = 0, null, id) n")
    val expected = data.selectExpr("bit_xor(xxhash64(*))").first()
    for (
      options <- Seq(
        Seq("chunkBytes" -> "4k"),
        Seq("chunkBytes" -> "64k"),
        Seq("stripeBytes" -> "64k", "chunkBytes" -> "1m"),
        Seq("alignBytes" -> "4k"),
        Seq("checksum" -> "none"),
        Seq("durability" -> "none"),
        Seq("compression" -> "zstd:9", "compression.id" -> "raw")
      )
    ) {
      val path = freshPath()
      write(data, path, "append", options: _*)
      assert(read(path).selectExpr("bit_xor(xxhash64(*))").first() == expected, options)
      assert(
        filesOf(path).names
          .filter(_.endsWith(".tables"))
          .map(tables => new String(filesOf(path).bytes(tables), "ISO-8859-1"))
          .forall(_.contains("\"checksum\":\"crc32c\"") != options.contains("checksum" -> "none"))
      )
    }
    val path = freshPath()
    write(data, path, "append", "chunkBytes" -> "4k")
    assert(filesOf(path).names.count(_.endsWith(".zr")) > 16)
  }

  test("values begin where alignBytes says") {
    val data = spark.range(0, 200, 1, 1).selectExpr("id", "cast(repeat('x', 5000) as binary) bin")
    for (options <- Seq(Seq("alignBytes" -> "4k"), Seq())) {
      val path = freshPath()
      write(data, path, "append", options: _*)
      val places = placesOf(path, 2)
      assert(places.size == 200)
      assert(places.forall(_ % 4096 == 0) == options.nonEmpty)
      assert(rows(read(path)).map(_.getLong(0)) == (0L until 200L))
    }
  }
}
