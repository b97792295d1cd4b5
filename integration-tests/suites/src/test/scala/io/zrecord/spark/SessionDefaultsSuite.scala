package io.zrecord.spark

import java.io.RandomAccessFile

/** Options set for a session as `spark.datasource.zrecord.<option>`, and options that are unknown.
  */
class SessionDefaultsSuite extends SparkSuite {
  private val names = Iterator.from(1).map(n => s"defaults_table_$n")
  private lazy val text =
    spark.range(0, 20000, 1, 1).selectExpr("repeat('abcdefgh', 20) text")

  private def isNewer = spark.version.takeWhile(_ != '.').toInt >= 4

  private def withDefaults[T](options: (String, String)*)(action: => T): T = {
    options.foreach { case (key, value) => spark.conf.set(s"spark.datasource.zrecord.$key", value) }
    try action
    finally options.foreach { case (key, _) => spark.conf.unset(s"spark.datasource.zrecord.$key") }
  }

  private def bytes(path: String): Long =
    filesBelow(path).filter(_.toString.endsWith(".zr")).map(_.toFile.length()).sum

  testLocally("compression reaches every way of writing") {
    text.createOrReplaceTempView("source_of_defaults")
    val one = freshPath()
    write(text.limit(0), one, "append")
    def empty(): String = {
      val path = freshPath()
      spark.sql(s"create table zrecord.`$path` (text string)")
      path
    }
    val ways = Seq[(String, () => String)](
      "save" -> { () =>
        val p = freshPath(); write(text, p, "append"); p
      },
      "create table as select" -> { () =>
        val p = freshPath()
        spark.sql(s"create table zrecord.`$p` as select * from source_of_defaults")
        p
      },
      "insert" -> { () =>
        val p = empty()
        spark.sql(s"insert into zrecord.`$p` select * from source_of_defaults")
        p
      },
      "insertInto" -> { () =>
        val p = empty(); text.write.insertInto(s"zrecord.`$p`"); p
      },
      "writeTo.append" -> { () =>
        val p = empty(); text.writeTo(s"zrecord.`$p`").append(); p
      },
      "writeTo.create" -> { () =>
        val p = freshPath(); text.writeTo(s"zrecord.`$p`").create(); p
      },
      "saveAsTable by path" -> { () =>
        val p = freshPath(); text.write.format("zrecord").saveAsTable(s"zrecord.`$p`"); p
      }
    ) ++ (if (isNewer)
            Seq[(String, () => String)](
              "saveAsTable of the session's catalog" -> { () =>
                val p = freshPath()
                val name = names.next()
                spark.sql(s"drop table if exists $name")
                text.write.format("zrecord").option("path", p).saveAsTable(name)
                spark.sql(s"drop table $name")
                p
              }
            )
          else Nil)
    for ((way, run) <- ways) {
      val raw = run()
      val compressed = withDefaults("compression" -> "zstd:3")(run())
      assert(bytes(raw) > 20000L * 160, way)
      assert(bytes(compressed) < 20000L * 40, way)
      assert(read(compressed).count() == 20000, way)
    }
    val explicit = freshPath()
    withDefaults("compression" -> "zstd:3")(
      text.writeTo(s"zrecord.`$explicit`").option("Compression", "raw").create()
    )
    assert(bytes(explicit) > 20000L * 160)
  }

  testLocally("verify reaches every way of reading") {
    val path = freshPath()
    write(text, path, "append")
    val chunk = filesBelow(path).find(_.toString.endsWith(".zr")).get
    val file = new RandomAccessFile(chunk.toFile, "rw")
    try {
      file.seek(file.length() / 2)
      val byte = file.readByte()
      file.seek(file.length() / 2)
      file.writeByte(byte ^ 1)
    } finally file.close()
    val ways = Seq[(String, () => Any)](
      "load" -> (() => read(path).collect()),
      "table" -> (() => spark.table(s"zrecord.`$path`").collect()),
      "SQL" -> (() => spark.sql(s"select * from zrecord.`$path`").collect()),
      "version as of" -> (() =>
        spark.sql(s"select * from zrecord.`$path` version as of 0").collect()
      )
    )
    for ((way, run) <- ways) {
      assert(failure(run()).contains("checksum"), way)
      withDefaults("verify" -> "never")(run())
    }
    withDefaults("verify" -> "never") {
      val careful = spark.read.option("Verify", "always").table(s"zrecord.`$path`")
      assert(failure(careful.collect()).contains("checksum"))
    }
  }

  test("a default that is no option is refused, and one for the other direction is not") {
    val path = freshPath()
    write(text, path, "append")
    withDefaults("verfy" -> "always")(
      assert(failure(spark.table(s"zrecord.`$path`").collect()).contains("verfy"))
    )
    withDefaults("compression" -> "raw", "verify" -> "always") {
      spark.table(s"zrecord.`$path`").collect()
      spark.sql(s"insert into zrecord.`$path` values ('x')")
      assert(
        failure(spark.read.option("compression", "zstd").table(s"zrecord.`$path`").collect())
          .contains("compression")
      )
    }
  }

  test("a default in other letters, and one that goes with no option of this read") {
    val path = freshPath()
    write(spark.range(10).toDF("id"), path, "append")
    withDefaults("numpartitions" -> "5", "seed" -> "3")(
      assert(spark.table(s"zrecord.`$path`").rdd.getNumPartitions == 5)
    )
  }

  test("unknown options are ignored if that is asked for") {
    val path = freshPath()
    val data = spark.range(10).toDF("id")
    write(data, path, "append", "unknownOptions" -> "ignore", "header" -> "true", "sep" -> ",")
    assert(
      read(path, "unknownOptions" -> "IGNORE", "header" -> "true", "compression" -> "raw")
        .count() == 10
    )
    withDefaults("unknownOptions" -> "ignore") {
      assert(spark.read.option("header", "true").table(s"zrecord.`$path`").count() == 10)
      data.writeTo(s"zrecord.`$path`").option("header", "true").append()
      assert(failure(write(data, path, "append", "tag" -> "v1")).contains("tag"))
      assert(failure(read(path, "verify" -> "perhaps").collect()).contains("first"))
    }
    assert(failure(read(path, "header" -> "true").collect()).contains("unknownOptions"))
    assert(
      failure(read(path, "unknownOptions" -> "perhaps").collect()).contains("refuse or ignore")
    )
  }
}
