package io.zrecord.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.util.zip.CRC32C

/** A table in which a later release stored one field by a feature that this release does not know.
  */
class FeaturesSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it changes local manifests"

  private def table(): String = {
    val path = freshPath()
    write(
      spark.range(0, 100, 1, 1).selectExpr("id", "id * 2 as far", "id + 1 as next"),
      path,
      "append"
    )
    path
  }

  private def edit(path: String)(change: String => String): Unit = {
    val file: Path = Paths.get(path, "manifest", "00000000000000000000.json")
    val text = new String(Files.readAllBytes(file), UTF_8)
    val body = text.substring(0, text.lastIndexOf(",\"crc32c\""))
    val changed = change(body)
    assert(changed != body)
    val crc = new CRC32C
    crc.update(changed.getBytes(UTF_8))
    Files.write(file, f"""$changed,"crc32c":"${crc.getValue}%08x"}\n""".getBytes(UTF_8))
  }

  private def withUnreadableField(): String = {
    val path = table()
    edit(path)(
      _.replace("\"name\":\"far\",\"dtype\":\"i64\"", "\"name\":\"far\",\"dtype\":\"f8_e4m3\"")
    )
    path
  }

  test("other columns are read") {
    val path = withUnreadableField()
    assert(read(path).columns.toSeq == Seq("id", "next"))
    assert(read(path).selectExpr("sum(id)", "sum(next)").collect().head.toSeq == Seq(4950L, 5050L))
    assert(spark.sql(s"select * from zrecord.`$path` limit 1").columns.length == 2)
  }

  test("a query that names the column is refused with the feature") {
    val path = withUnreadableField()
    for (
      query <- Seq("select far from", "select sum(id) from", "select count(*) from").zip(
        Seq("", " where far is null", " where length(far) > 0")
      )
    ) {
      val message = failure(spark.sql(s"${query._1} zrecord.`$path`${query._2}").collect())
      for (words <- Seq("[ZRECORD_UNSUPPORTED_FORMAT] ", "field 'far'", "'dtype f8_e4m3'"))
        assert(message.contains(words), message)
    }
  }

  test("an append and an overwrite are refused before a task runs") {
    val path = withUnreadableField()
    val files = filesBelow(path).size
    for (mode <- Seq("append", "overwrite")) {
      val message = failure(write(spark.range(5).selectExpr("id", "id as next"), path, mode))
      assert(message.contains("'dtype f8_e4m3'"), message)
    }
    assert(filesBelow(path).size == files)
  }

  test("a table with a feature for writers is read and not written") {
    val path = table()
    edit(path)(_.replace("\"format\":2", "\"format\":2,\"features\":{\"write\":[\"later\"]}"))
    assert(read(path).count() == 100)
    assert(
      failure(write(spark.range(5).selectExpr("id", "id as far", "id as next"), path, "append"))
        .contains("'later'")
    )
  }

  test("a table with a feature for readers is not read") {
    val path = table()
    edit(path)(_.replace("\"format\":2", "\"format\":2,\"features\":{\"read\":[\"later\"]}"))
    assert(failure(read(path).count()).contains("'later'"))
  }
}
