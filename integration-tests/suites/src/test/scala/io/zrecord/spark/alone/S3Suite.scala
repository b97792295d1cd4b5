package io.zrecord.spark
package alone

import java.io.StringWriter
import java.nio.file.{Files, Paths}

import io.zrecord.storage.hadoop.{HadoopStorage, S3Server}
import org.apache.logging.log4j.Level
import org.scalatest.{Canceled, Outcome}

/** Tables in a bucket, by S3A of the Sparks that may write there: see S3SmokeSuite. */
class S3Suite extends RemoteTests {
  private lazy val server = new S3Server(
    Paths.get(System.getProperty("zrecord.test.s3proxy")),
    Files.createTempDirectory("s3")
  )

  override protected def contextSettings: Map[String, String] =
    TestBase.settingsOf(server)

  override protected def withFixture(test: NoArgTest): Outcome =
    if (org.apache.spark.SPARK_VERSION >= "4.1") super.withFixture(test)
    else Canceled("this S3A cannot write on a condition")

  override protected def base: String = server.bucket() + "/data"

  test("the first write says that the refusal which S3A warns of is no failure") {
    val settings = server.settings()
    // A file system of its own, which has written nothing.
    settings.setBoolean("fs.s3a.impl.disable.cache", true)
    val storage = HadoopStorage.at(base + "/first", settings)
    val first = new StringWriter()
    CapturedLogs.at(Level.WARN, first)(storage.publish("a", Array[Byte](1)))
    val lines = first.toString.linesIterator.toSeq
    assert(lines.head.contains(s"Trying once whether $base/first refuses a name"), lines)
    assert(lines.count(_.contains("Trying once")) == 1)
    val second = new StringWriter()
    CapturedLogs.at(Level.WARN, second)(storage.publish("b", Array[Byte](1)))
    assert(second.toString.isEmpty)
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally server.close()
}
