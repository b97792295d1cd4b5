package io.zrecord.spark

import java.io.RandomAccessFile
import java.nio.file.{Files, Path, Paths}

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions

class ErrorsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it cuts and changes local files, and fills a local disk"

  private def dataset(options: (String, String)*): String = {
    val path = freshPath()
    write(
      spark.range(0, 2000, 1, 1).selectExpr("id", "repeat(cast(id as string), 9) text"),
      path,
      "append",
      options: _*
    )
    path
  }

  private def file(path: String, suffix: String): Path =
    filesBelow(path).filter(_.toString.endsWith(suffix)).head

  private def flip(file: Path, position: Long): Unit = {
    val access = new RandomAccessFile(file.toFile, "rw")
    try {
      access.seek(position)
      val old = access.read()
      access.seek(position)
      access.write(old ^ 4)
    } finally access.close()
  }

  private def readAll(path: String): Any = read(path).selectExpr("sum(id)", "max(text)").collect()

  test("a typo in a path") {
    assert(failure(read("/data/trian")).contains("/data/trian"))
    assert(failure(spark.sql("select * from zrecord.`/data/trian`")).contains("/data/trian"))
  }

  test("a file instead of a directory") {
    val path = freshPath()
    Files.createDirectories(Paths.get(path).getParent)
    Files.write(Paths.get(path), Array[Byte](1))
    assert(failure(read(path)).contains(path))
  }

  test("a directory of Parquet files") {
    val path = freshPath()
    spark.range(3).write.parquet(path)
    val message = failure(read(path))
    assert(message.contains("Parquet files") && message.contains(path))
  }

  test("a chunk that was cut") {
    val path = dataset()
    val chunk = file(path, ".zr")
    val access = new RandomAccessFile(chunk.toFile, "rw")
    access.setLength(chunk.toFile.length() / 2)
    access.close()
    assert(failure(readAll(path)).contains(chunk.getFileName.toString))
  }

  for (suffix <- Seq(".zr", ".tables", "00.json")) {
    test(s"a flipped bit in $suffix") {
      val path = dataset()
      val damaged = file(path, suffix)
      flip(damaged, damaged.toFile.length() / 2)
      assert(failure(readAll(path)).contains("Cannot read"))
    }
  }

  test("a missing file") {
    for (suffix <- Seq(".zr", ".tables")) {
      val path = dataset()
      val missing = file(path, suffix)
      Files.delete(missing)
      assert(failure(readAll(path)).contains(missing.getFileName.toString))
    }
  }

  test("damage is handed on only when asked for") {
    val path = dataset()
    flip(file(path, ".zr"), 5000)
    assert(failure(readAll(path)).contains("checksum"))
    assert(
      read(path, "verify" -> "never").selectExpr("count(id)", "count(text)").collect().length == 1
    )
    assert(failure(read(path, "verify" -> "always").collect()).contains("checksum"))
  }

  test("garbage instead of a manifest, and manifests of other formats") {
    val path = dataset()
    val manifest = file(path, "00.json")
    Files.write(manifest, "{ hello".getBytes("UTF-8"))
    assert(failure(read(path)).contains(manifest.toString))
    for ((format, remedy) <- Seq(9 -> "upgrade zrecord", 1 -> "write the dataset again")) {
      Files.write(manifest, sealedJson(s"""{"format":$format"""))
      assert(failure(read(path)).contains(remedy))
    }
  }

  test("an unknown option or value names what is allowed") {
    val path = dataset()
    assert(failure(read(path, "verfy" -> "never").collect()).contains("verify"))
    assert(failure(read(path, "verify" -> "perhaps").collect()).contains("first"))
    assert(failure(read(path, "numPartitions" -> "0").collect()).contains("numPartitions"))
    val data = spark.range(1).toDF("id")
    for (
      (key, value, hint) <- Seq(
        ("compresion", "zstd", "compression"),
        ("compression", "zip", "raw, flate, zstd or lz4"),
        ("compression", "zstd:99", "1 to 22"),
        ("compression.nofield", "zstd", "nofield"),
        ("chunkBytes", "1", "chunkBytes"),
        ("alignBytes", "100", "alignBytes is 100; it must be a power of two from 8 to 1048576"),
        ("checksum", "md5", "crc32c"),
        ("durability", "maybe", "commit"),
        ("txnAppId", "a", "txnVersion"),
        ("versionAsOf", "1", "unknown option")
      )
    ) {
      assert(
        failure(write(data, freshPath(), "append", key -> value)).contains(hint),
        s"$key=$value"
      )
    }
  }

  test("a scheme without support") {
    assert(failure(read("s3a://nobody-has-this/x")).contains("s3a"))
  }

  test("versions that do not exist") {
    val path = dataset()
    assert(failure(read(path, "versionAsOf" -> "7")).contains("the versions are 0"))
    assert(failure(read(path, "versionAsOf" -> "x")).contains("no tag 'x'"))
    assert(failure(read(path, "tag" -> "7")).contains("versionAsOf"))
    assert(failure(read(path, "tag" -> "x", "versionAsOf" -> "0")).contains("exclude"))
    assert(failure(read(path, "timestampAsOf" -> "2001-01-01")).contains("as of 2001-01-01"))
  }

  test("a time selects the version that was newest then") {
    val path = dataset()
    val manifest = new String(Files.readAllBytes(file(path, "00.json")), "UTF-8")
    val millis = "\"timestampMillis\":(\\d+)".r.findFirstMatchIn(manifest).get.group(1).toLong
    val first = new java.sql.Timestamp(millis)
    write(spark.range(5).selectExpr("id", "'x' text"), path, "append")
    assert(read(path, "timestampAsOf" -> first.toString).count() == 2000)
    assert(read(path, "timestampAsOf" -> "2999-01-01 00:00:00").count() == 2005)
  }

  test("no permission names the file and the user") {
    val directory = Paths.get(freshPath())
    Files.createDirectories(directory)
    assume(directory.toFile.setWritable(false))
    // A superuser may write there nevertheless, but may not make directories in sysfs either.
    val path = (if (Files.isWritable(directory)) Paths.get("/sys/kernel") else directory)
      .resolve("d")
      .toString
    val message = failure(write(spark.range(1000).toDF("id"), path, "append"))
    assert(message.contains(path) && message.contains("permission denied for user"), message)
  }

  test("a full disk is an error that says so, and the dataset stays readable") {
    // /dev/full cannot hold a directory. A small file system needs privileges; without them there
    // is nothing to test.
    val mount = Paths.get(freshPath())
    Files.createDirectories(mount)
    val mounted =
      try
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", mount.toString)
          .start()
          .waitFor() == 0
      catch { case _: java.io.IOException => false }
    assume(mounted, "mounting a small file system is not permitted here")
    try {
      val path = mount.resolve("d").toString
      write(spark.range(1000).toDF("id"), path, "append")
      val large = spark.range(40).selectExpr("id", "repeat('x', 1024 * 1024) text")
      assert(
        failure(write(large, path, "append", "mergeSchema" -> "true")).toLowerCase.contains("space")
      )
      assert(read(path).count() == 1000)
      assert(read(path).selectExpr("sum(id)").first().getLong(0) == 499500)
      assert(eventually(filesBelow(path).map(_.toFile.length()).sum < 1000000))
      write(spark.range(10).toDF("id"), path, "append")
      assert(read(path).count() == 1010)
    } finally // Lazily: files of the dataset are still mapped.
      new ProcessBuilder("umount", "-l", mount.toString).start().waitFor()
  }

  test("a directory with something else is refused before a task starts") {
    val path = freshPath()
    spark.range(3).write.parquet(path)
    val files = filesBelow(path).toSet
    assert(failure(write(spark.range(10).toDF("id"), path, "append")).contains("other content"))
    assert(filesBelow(path).toSet == files)
  }

  test("a field with the name of the metadata column") {
    val path = freshPath()
    val schema = RecordSchema.builder().field("_index", ElementType.I64).build()
    val writer = RecordDatasetWriter.append(path, schema, WriteOptions.defaults())
    try writer.commit()
    finally writer.close()
    assert(failure(read(path)).contains("the name of a metadata column"))
  }

  test("the catalog behind paths reads what is there, and nothing else") {
    val path = dataset()
    assert(spark.sql(s"select * from zrecord_paths.`$path`").count() == 2000)
    val nowhere = freshPath()
    assert(failure(spark.sql(s"select * from zrecord_paths.`$nowhere`").count()).contains(nowhere))
  }
}
