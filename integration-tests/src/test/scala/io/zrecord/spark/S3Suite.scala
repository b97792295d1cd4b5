package io.zrecord.spark

import java.nio.file.{Files, Paths}

import io.zrecord.storage.hadoop.S3Server

/** Tables in a bucket, by S3A. */
class S3Suite extends RemoteTests {
  private lazy val server = new S3Server(
    Paths.get(System.getProperty("zrecord.test.s3proxy")),
    Files.createTempDirectory("s3")
  )

  override protected def configuration: Map[String, String] =
    S3Suite.Settings.map { name =>
      s"spark.hadoop.$name" -> server.settings().get(name)
    }.toMap

  override protected def base: String = server.bucket() + "/data"

  override def afterAll(): Unit =
    try super.afterAll()
    finally server.close()
}

object S3Suite {
  private val Settings = Seq(
    "endpoint",
    "endpoint.region",
    "path.style.access",
    "access.key",
    "secret.key",
    "connection.ssl.enabled"
  ).map("fs.s3a." + _)
}
