package io.zrecord.spark
package alone

import java.nio.file.{Files, Paths}

import io.zrecord.storage.hadoop.S3Server
import org.apache.hadoop.fs.Path

/** A table in a bucket, with the S3A of each Spark: it is read by all, and written by the newer. */
class S3SmokeSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it has a server of its own"

  private lazy val server = new S3Server(
    Paths.get(System.getProperty("zrecord.test.s3proxy")),
    Files.createTempDirectory("s3")
  )

  override protected def contextSettings: Map[String, String] = TestBase.settingsOf(server)

  override def afterAll(): Unit =
    try super.afterAll()
    finally server.close()

  private def data = spark.range(0, 1000, 1, 4).selectExpr("id", "repeat(string(id), 99) text")

  private val isWritten = org.apache.spark.SPARK_VERSION >= "4.1"

  test("a table is read by scans, by indices and by patterns") {
    val local = freshLocalPath()
    write(data, "file:" + local, "append")
    val target = new Path(server.bucket() + "/copied 100%/ä")
    target
      .getFileSystem(spark.sessionState.newHadoopConf())
      .copyFromLocalFile(new Path("file:" + local), target)
    val path = target.toString
    assert(rows(read(path)) == rows(read("file:" + local)))
    assert(read(path, "indices" -> "999,0").selectExpr("sum(id)").head().getLong(0) == 999)
    assert(read(server.bucket() + "/copied*/{ä,b}").count() == 1000)
    assert(spark.sql(s"select * from zrecord.`$path` where _index < 5").count() == 5)
  }

  test("a table is written, or refused with the reason") {
    val path = server.bucket() + "/written"
    if (isWritten) {
      write(data, path, "errorifexists")
      write(data, path, "append")
      assert(read(path).count() == 2000)
    } else {
      val message = failure(write(data, path, "append"))
      assert(message.contains("Hadoop 3.4.2 or later") && message.contains("reading works"))
    }
  }
}
