package io.zrecord.spark

import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.security.AccessControlException
import org.apache.hadoop.util.Progressable
import org.apache.spark.TaskContext

/** Local files as another file system, which counts what would be requests to a store. A call
  * within a call is no request. Files below a directory named `private` need a key.
  */
class CountingFileSystem extends RawLocalFileSystem {
  import CountingFileSystem._

  private val depth = new ThreadLocal[Int] {
    override def initialValue(): Int = 0
  }
  private var key = ""

  override def initialize(uri: URI, settings: Configuration): Unit = {
    super.initialize(uri, settings)
    key = settings.get(Key, "")
  }

  override def getUri: URI = URI.create(s"$getScheme:///")

  override def getScheme: String = Scheme

  /** Is called before each request; what it throws is what the request fails by. */
  protected def before(name: String, path: Path): Unit = ()

  private def request[A](name: String, path: Path)(call: => A): A = {
    val isOutermost = depth.get() == 0
    if (isOutermost) {
      requests.add(Request(name, path.toString, TaskContext.get() != null))
      if (path.toString.contains("/private/") && key != expectedKey) {
        throw new AccessControlException(s"The key for $path is wrong")
      }
      before(name, path)
    }
    depth.set(depth.get() + 1)
    try call
    finally depth.set(depth.get() - 1)
  }

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    request("open", path)(super.open(path, bufferSize))

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    request("create", path)(
      super.create(path, overwrite, bufferSize, replication, blockSize, progress)
    )

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    request("create", path)(
      super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
    )

  /** Never replaces a file. */
  override def rename(from: Path, to: Path): Boolean = request("rename", to) {
    if (exists(to)) throw new FileAlreadyExistsException(to.toString)
    super.rename(from, to)
  }

  override def delete(path: Path, recursive: Boolean): Boolean =
    request("delete", path)(super.delete(path, recursive))

  override def listStatus(path: Path): Array[FileStatus] =
    request("list", path)(super.listStatus(path))

  /** Asks for no permissions, which the file system of Hadoop asks the scheme `file` for. */
  override def listLocatedStatus(path: Path): RemoteIterator[LocatedFileStatus] = {
    val found = listStatus(path).iterator
    new RemoteIterator[LocatedFileStatus] {
      override def hasNext: Boolean = found.hasNext
      override def next(): LocatedFileStatus = {
        val status = found.next()
        new LocatedFileStatus(
          status.getLen,
          status.isDirectory,
          1,
          status.getBlockSize,
          status.getModificationTime,
          status.getAccessTime,
          FsPermission.getDefault,
          "",
          "",
          null,
          status.getPath,
          Array.empty[BlockLocation]
        )
      }
    }
  }

  override def mkdirs(path: Path): Boolean = request("mkdirs", path)(super.mkdirs(path))

  override def getFileStatus(path: Path): FileStatus =
    request("status", path)(super.getFileStatus(path))
}

object CountingFileSystem {
  val Scheme = "count"
  val Key = "fs.count.secret.key"

  /** Settings of a session that uses the file system. */
  val Settings: Map[String, String] = Map(
    "fs.count.impl" -> classOf[CountingFileSystem].getName,
    "zrecord.publish" -> "rename"
  )

  @volatile var expectedKey: String = ""

  case class Request(name: String, path: String, isOfTask: Boolean)

  private val requests = new ConcurrentLinkedQueue[Request]()

  /** Returns the requests that an action sends. */
  def requestsOf(action: => Any): Seq[Request] = {
    requests.clear()
    action
    requests.asScala.toList
  }
}
