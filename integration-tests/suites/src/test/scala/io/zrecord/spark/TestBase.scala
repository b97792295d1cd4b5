package io.zrecord.spark

import java.nio.file.{Files, Paths}

import io.zrecord.storage.hadoop.S3Server
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hdfs.MiniDFSCluster

/** Where suites have their tables, by the property `zrecord.test.base`: `local`, `hdfs` or `s3`. A
  * server starts with the first suite that needs the server, and ends with the process.
  */
sealed trait TestBase {

  /** Returns the URI of a directory; empty for local files. */
  def uri: Option[String]

  /** Returns what a session needs to reach the directory. */
  def settings: Map[String, String]
}

object TestBase {
  private val name = System.getProperty("zrecord.test.base", "local")

  /** Tells whether suites have their tables on local files. Starts no server. */
  val isLocal: Boolean = name == "local"

  lazy val current: TestBase = name match {
    case "local" => Local
    case "hdfs" => Hdfs
    case "s3" => S3
  }

  private object Local extends TestBase {
    override def uri: Option[String] = None
    override def settings: Map[String, String] = Map.empty
  }

  private object Hdfs extends TestBase {
    private val cluster = {
      val settings = new Configuration()
      settings.set("hdfs.minidfs.basedir", Files.createTempDirectory("hdfs").toString)
      val started = new MiniDFSCluster.Builder(settings).numDataNodes(1).build()
      started.waitActive()
      started
    }

    override def uri: Option[String] = Some(s"${cluster.getFileSystem.getUri}/data")
    override def settings: Map[String, String] = Map.empty
  }

  private object S3 extends TestBase {
    private val server = new S3Server(
      Paths.get(System.getProperty("zrecord.test.s3proxy")),
      Files.createTempDirectory("s3")
    )
    sys.addShutdownHook(server.close())

    override def uri: Option[String] = Some(server.bucket() + "/data")
    override def settings: Map[String, String] = settingsOf(server)
  }

  /** Returns what a session needs to reach a server. */
  def settingsOf(server: S3Server): Map[String, String] = Seq(
    "endpoint",
    "endpoint.region",
    "path.style.access",
    "access.key",
    "secret.key",
    "connection.ssl.enabled"
  ).map("fs.s3a." + _)
    .map(name => s"spark.hadoop.$name" -> server.settings().get(name))
    .toMap
}
