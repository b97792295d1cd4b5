package io.zrecord.spark

import org.apache.hadoop.fs.Path
import org.apache.spark.TaskContext

/** Local files as another file system, whose requests a test lets fail in tasks of its process. */
class TaskFaultsFileSystem extends CountingFileSystem {
  override def getScheme: String = TaskFaultsFileSystem.Scheme

  override protected def before(name: String, path: Path): Unit =
    Option(TaskContext.get()).foreach(TaskFaultsFileSystem.fault(_, name, path.toString))
}

object TaskFaultsFileSystem {
  val Scheme = "faults"

  /** Settings of a session that uses the file system. */
  val Settings: Map[String, String] = Map(
    "fs.faults.impl" -> classOf[TaskFaultsFileSystem].getName,
    "zrecord.publish" -> "rename"
  )

  /** Takes a task, the kind of a request and its path, before the request. Throws what the request
    * is to fail by.
    */
  @volatile var fault: (TaskContext, String, String) => Unit = (_, _, _) => ()
}
