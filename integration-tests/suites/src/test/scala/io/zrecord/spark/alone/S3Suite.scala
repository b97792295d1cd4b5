package io.zrecord.spark
package alone

import java.nio.file.{Files, Paths}

import io.zrecord.storage.hadoop.S3Server
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

  override def afterAll(): Unit =
    try super.afterAll()
    finally server.close()
}
