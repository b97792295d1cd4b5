package io.zrecord.spark
package alone

import java.nio.file.{Files, Paths}

import io.zrecord.storage.hadoop.S3Server

/** Tables in a bucket, by S3A. */
class S3Suite extends RemoteTests {
  private lazy val server = new S3Server(
    Paths.get(System.getProperty("zrecord.test.s3proxy")),
    Files.createTempDirectory("s3")
  )

  override protected def contextSettings: Map[String, String] =
    TestBase.settingsOf(server)

  override protected def base: String = server.bucket() + "/data"

  override def afterAll(): Unit =
    try super.afterAll()
    finally server.close()
}
