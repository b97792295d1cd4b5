package io.zrecord.spark

import java.nio.file.{Files, Path, Paths, StandardCopyOption}
import java.nio.file.attribute.FileTime
import java.time.{Duration, Instant}
import java.util.UUID
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession

/** Tables that begin alike, on which one operation is stopped while another one runs. */
trait PairedTables extends RunsOnce {
  override protected def whyOnce: String = "its file system stops the driver, and ages files"

  private lazy val warehouse = freshLocalPath()
  private val age = Duration.ofDays(30)
  private val orphan = "orphan"

  override protected def configuration: Map[String, String] = HeldFileSystem.Settings ++ Map(
    "spark.sql.catalog.held" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.held.warehouse" -> s"${HeldFileSystem.Scheme}://$warehouse"
  )

  /** The session of the operation that comes first. */
  private lazy val other = {
    val session = spark.newSession()
    configuration.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  private def tableOf(session: SparkSession, name: String, base: Long) =
    new PairedTable(
      session,
      s"held.$name",
      s"${HeldFileSystem.Scheme}://$warehouse/$name",
      base
    )

  /** A table that others are copies of. All it has is a month old, so that it can be expired and
    * swept.
    */
  private class Template(isPartitioned: Boolean) {
    private val name = freshTable()
    private val directory = Paths.get(warehouse, name)
    PairedOperations.create(tableOf(spark, name, -1), isPartitioned)
    val version: Long = tableAt(directory.toString).latest().version()
    private val shard = directory.resolve("shard").resolve(UUID.randomUUID().toString)
    Files.write(Files.createDirectories(shard).resolve(orphan), Array[Byte](1))
    makeOld()

    private def makeOld(): Unit = {
      val time = "(\"timestampMillis\":)(\\d+)".r
      def old(text: String) =
        time.replaceAllIn(text, m => m.group(1) + (m.group(2).toLong - age.toMillis))
      val files = filesBelow(directory.toString)
      for (file <- files if file.toString.matches(".*/manifest/\\d+\\.json")) {
        val text = new String(Files.readAllBytes(file), "UTF-8")
        assert(time.findAllIn(text).size == 1, text)
        Files.write(file, sealedJson(old(text).replaceFirst(",\"crc32c\":\"[^\"]*\"\\}\\s*$", "")))
      }
      val modified = FileTime.from(Instant.now.minus(age))
      files
        .flatMap(file => Seq(file, file.getParent))
        .foreach(Files.setLastModifiedTime(_, modified))
    }

    /** Makes a table that has what this one has. Returns its name. */
    def copied(): String = {
      val name = freshTable()
      val to = Paths.get(warehouse, name)
      for (file <- filesBelow(directory.toString)) {
        val target = to.resolve(directory.relativize(file))
        Files.createDirectories(target.getParent)
        Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES)
      }
      name
    }
  }

  private lazy val partitioned = new Template(isPartitioned = true)
  private lazy val whole = new Template(isPartitioned = false)

  /** A table, and an operation on it, before one of whose requests another operation runs whole. */
  protected class Pair(isPartitioned: Boolean) {
    private val template = if (isPartitioned) partitioned else whole
    private val name = template.copied()
    private val directory = s"$warehouse/$name"
    private val seen = new AtomicInteger()
    @volatile private var failure: Option[Throwable] = None

    private def run(operation: PairedOperation): Unit =
      operation.run(tableOf(spark, name, template.version), PairedOperations.Second)

    private def runFirst(operation: PairedOperation, role: Role): Unit = {
      val thread = new Thread(() =>
        try {
          SparkSession.setActiveSession(other)
          operation.run(tableOf(other, name, template.version), role)
        } catch { case e: Throwable => failure = Some(e) }
      )
      thread.start()
      thread.join()
    }

    /** Counts the requests of an operation that is alone, up to its first publication. */
    def requestsOf(operation: PairedOperation): Int = {
      val published = new AtomicInteger(-1)
      watching { (request, path) =>
        val count = seen.incrementAndGet()
        if (HeldFileSystem.isPublication(request, path)) published.compareAndSet(-1, count)
      }(run(operation))
      assert(published.get > 0, s"${operation.name} publishes nothing")
      published.get
    }

    /** Runs an operation, and another one before the request that is chosen.
      *
      * @param chooses
      *   takes which request of the first operation it is, from 1 on, its kind and its path
      */
    def interrupted(operation: PairedOperation)(first: PairedOperation, role: Role)(
        chooses: (Int, String, String) => Boolean
    ): Try[Unit] = {
      val isDone = new AtomicBoolean()
      val found = Try(watching { (request, path) =>
        // The requests of the one that comes first are none of these.
        if (
          !isDone.get && chooses(seen.incrementAndGet(), request, path) && !isDone.getAndSet(true)
        )
          runFirst(first, role)
      }(run(operation)))
      assert(isDone.get, s"${first.name} did not run, beside $found")
      failure.foreach(e => fail(s"${first.name} failed: ${messages(e)}"))
      found
    }

    /** Tells of requests of this thread, and of publications. Other threads may work for tasks: if
      * they waited, no task of another operation could run.
      */
    private def watching(before: (String, String) => Unit)(action: => Unit): Unit = {
      val driver = Thread.currentThread()
      HeldFileSystem.before = (request, path) => {
        val isOwn =
          Thread.currentThread() == driver || HeldFileSystem.isPublication(request, path)
        if (isOwn && path.contains(name)) before(request, path)
      }
      try action
      finally HeldFileSystem.before = (_, _) => ()
    }

    /** Returns what the table has. */
    def listed: ListedTable = {
      val table = tableAt(directory)
      if (!table.exists()) ListedTable.Absent
      else {
        val newest = table.latest()
        val data = read(directory)
        val columns = data.schema.fields.toSeq.map(field =>
          ListedColumn(field.name, field.name, field.dataType.sql.toLowerCase)
        )
        val found =
          data.select("_index", "*").collect().map(_.toSeq).sortBy(_.head.asInstanceOf[Long])
        assert(found.map(_.head).toSeq == found.indices.map(_.toLong))
        ListedTable(
          columns,
          found.toSeq.map(row => columns.map(_.key).zip(row.tail).filter(_._2 != null).toMap),
          newest.schema().fields().asScala.filterNot(_.rules().isNullable).map(_.name()).toSet,
          newest.declarations().properties().asScala.toMap,
          newest.declarations().constraints().asScala.map(_.name()).toSet,
          table.tags().asScala.map(_.name()).toSet,
          isExpired = table.versions().asScala.head > 0,
          hasOrphan = filesBelow(directory).exists(_.endsWith(orphan))
        )
      }
    }
  }
}
