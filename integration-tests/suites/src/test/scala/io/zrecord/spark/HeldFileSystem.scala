package io.zrecord.spark

import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.spark.TaskContext

/** Local files as another file system, which tells a test of each request of the driver before the
  * request. The test may do anything meanwhile: the driver waits.
  */
class HeldFileSystem extends CountingFileSystem {
  override def getScheme: String = HeldFileSystem.Scheme

  override protected def before(name: String, path: Path): Unit =
    if (TaskContext.get() == null) HeldFileSystem.before(name, path.toString)

  /** Does nothing: without libraries of the system, Hadoop starts a process for each file. */
  override def setPermission(path: Path, permission: FsPermission): Unit = ()
}

object HeldFileSystem {
  val Scheme = "held"

  /** Settings of a session that uses the file system. */
  val Settings: Map[String, String] = Map(
    "fs.held.impl" -> classOf[HeldFileSystem].getName,
    "zrecord.publish" -> "rename"
  )

  /** Takes the kind of a request of the driver and its path, before the request. */
  @volatile var before: (String, String) => Unit = (_, _) => ()

  /** Tells whether a request publishes a version. */
  def isPublication(name: String, path: String): Boolean =
    name == "rename" && path.matches(".*/manifest/\\d{20}\\.json")
}
