package io.zrecord.spark

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hdfs.MiniDFSCluster

/** Tables on HDFS, with the Hadoop of each Spark. */
class HdfsSuite extends RemoteTests {
  private lazy val cluster: MiniDFSCluster = {
    val settings = new Configuration()
    settings.set("hdfs.minidfs.basedir", Files.createTempDirectory("hdfs").toString)
    val started = new MiniDFSCluster.Builder(settings).numDataNodes(1).build()
    started.waitActive()
    started
  }

  override protected def base: String = s"${cluster.getFileSystem.getUri}/data"

  override def afterAll(): Unit =
    try super.afterAll()
    finally cluster.shutdown()

  test("a path without a scheme is on the default file system, and file: is local") {
    val default = "fs.defaultFS"
    spark.conf.set(default, cluster.getFileSystem.getUri.toString)
    try {
      val name = "/default/" + java.util.UUID.randomUUID()
      write(spark.range(7).toDF(), name, "append")
      assert(read(s"${cluster.getFileSystem.getUri}$name").count() == 7)
      assert(read(name).selectExpr("sum(id)").head().getLong(0) == 21)
      val local = freshLocalPath()
      write(spark.range(3).toDF(), "file:" + local, "append")
      assert(Files.isDirectory(java.nio.file.Paths.get(local, "manifest")))
      assert(read("file:" + local.dropRight(3) + "*").count() == 3)
    } finally spark.conf.unset(default)
  }

  test("an overwrite with an older version of itself is a conflict however the host is spelled") {
    val path = remotePath()
    write(spark.range(5).toDF(), path, "append")
    val old = read(path)
    write(spark.range(3).toDF(), path, "append")
    for (spelled <- Seq(path, path.replace("localhost", "127.0.0.1"))) {
      assert(failure(write(old.distinct(), spelled, "overwrite")).contains("expectedVersion"))
    }
    assert(read(path).count() == 8)
  }
}
