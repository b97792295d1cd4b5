package io.zrecord.spark
package alone

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.Path
import org.apache.spark.TaskContext

/** Local files as another file system. The process of the first task that has written the values of
  * a shard ends when the task begins the file of their places.
  */
class DyingFileSystem extends CountingFileSystem {
  override def getScheme: String = DyingFileSystem.Scheme

  override protected def before(name: String, path: Path): Unit = {
    val file = path.toUri.getPath
    if (
      name == "create" && file.contains("/shard/") && file.endsWith(".tables") &&
      TaskContext.get() != null
    ) ClusterSuite.dieOnceNow(DyingFileSystem.marker(file.substring(0, file.indexOf("/shard/"))))
  }
}

object DyingFileSystem {
  val Scheme = "dying"

  /** Settings of a session that uses the file system. */
  val Settings: Map[String, String] = Map(
    "fs.dying.impl" -> classOf[DyingFileSystem].getName,
    "zrecord.publish" -> "rename"
  )

  private def marker(table: String): String = table + ".died"

  /** Tells whether a process ended that wrote to the table at a local path. */
  def hasDied(table: String): Boolean = Files.exists(Paths.get(marker(table)))
}
