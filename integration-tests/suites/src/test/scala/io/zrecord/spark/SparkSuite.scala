package io.zrecord.spark

import java.io.File
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}
import java.util.UUID
import java.util.concurrent.TimeUnit
import java.util.zip.CRC32C

import scala.util.Random
import scala.util.hashing.MurmurHash3

import com.fasterxml.jackson.databind.ObjectMapper
import io.zrecord.internal.shard.{OpenShards, ShardPlaces}
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.RecordTable
import io.zrecord.testing.Budget

import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.scalatest.{BeforeAndAfterAll, Outcome}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

/** A suite with a Spark session of its own and directories below target. Suites share a context
  * unless they ask for their own.
  */
abstract class SparkSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val root = Paths.get(System.getProperty("zrecord.test.directory"))

  /** Where the context runs. A suite with another master stands in the package `alone`. */
  protected def master: String = "local[2,4]"

  /** What the context needs beyond the shared one. A suite that needs anything stands in the
    * package `alone`.
    */
  protected def contextSettings: Map[String, String] = Map.empty

  /** Settings of the session. */
  protected def configuration: Map[String, String] = Map.empty

  protected lazy val spark: SparkSession = {
    val shared = Map(
      "spark.ui.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.session.timeZone" -> "UTC",
      "spark.sql.warehouse.dir" -> root.resolve("warehouse").toString,
      // The progress of tasks comes with heartbeats.
      "spark.executor.heartbeatInterval" -> "1s"
    ) ++ TestBase.current.settings
    val session = SuiteContext.newSession(master, shared ++ contextSettings)
    configuration.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  /** Makes the suite's session the one by which paths are resolved. */
  override def beforeAll(): Unit = {
    super.beforeAll()
    SparkSession.setDefaultSession(spark)
    SparkSession.setActiveSession(spark)
  }

  /** Leaves no cached data to the suites that follow in the same context. */
  override def afterAll(): Unit =
    try if (!spark.sparkContext.isStopped) spark.catalog.clearCache()
    finally super.afterAll()

  /** Tells whether the suite tries in another place, or by another path of Spark, what other suites
    * try. The scale then says how many of its tests run, and the seed which.
    */
  protected def isRepetition: Boolean = false

  /** Marks the tests that are left out. */
  override def tags: Map[String, Set[String]] = {
    val own = super.tags
    val share = TestShare.of(suiteName, isRepetition)
    val leftOut = testNames.filterNot(TestShare.isChosen(suiteName, _, share))
    own ++ leftOut.map(name => name -> (own.getOrElse(name, Set.empty) + TestShare.LeftOut))
  }

  /** Says how a test that failed is run again with the same seed. */
  override protected def withFixture(test: NoArgTest): Outcome = {
    chance.setSeed(Budget.seed ^ MurmurHash3.stringHash(s"$suiteName ${test.name}"))
    val outcome = super.withFixture(test)
    if (outcome.isFailed) {
      val choice = if (TestBase.isLocal) "-Dsuites.suffix" else "-Premote -Dsuites.remote"
      val suite = s"$choice=${getClass.getSimpleName}"
      // The build knows the other Sparks by a profile, and leaves out what is slow.
      val profile = if (Budget.module.endsWith("spark-4.2")) "" else "-Pci "
      val slow = if (getClass.isAnnotationPresent(classOf[Slow])) " -Dsuites.left.out=" else ""
      System.err.println(
        s"replay: ./mvnw verify $profile-pl ${Budget.module} -am -Dunit.skip=true $suite$slow " +
          Budget.properties
      )
    }
    outcome
  }

  /** Tells whether this Spark loads tables again before each query. */
  protected def loadsAgain: Boolean = {
    val numbers = spark.version.split('.').take(2).map(_.takeWhile(_.isDigit).toInt)
    numbers(0) > 4 || (numbers(0) == 4 && numbers(1) >= 1)
  }

  /** Returns a path where nothing exists yet, where the suites have their tables. */
  protected def freshPath(): String =
    TestBase.current.uri.map(_ + "/d-" + UUID.randomUUID()).getOrElse(freshLocalPath())

  /** Returns a path on the local file system where nothing exists yet. */
  protected def freshLocalPath(): String = {
    Files.createDirectories(root)
    root.resolve("d-" + UUID.randomUUID()).toString
  }

  /** Registers a test that looks into the files of local tables. */
  protected def testLocally(name: String)(body: => Any): Unit =
    if (TestBase.isLocal) test(name)(body)
    else ignore(name)(body)

  /** Returns the files of a table at a path of the session. */
  protected def filesOf(path: String): TableFiles =
    new TableFiles(SparkStorages.storageFor(path))

  /** Returns the table at a path of the session. */
  protected def tableAt(path: String): RecordTable =
    RecordTable.at(SparkStorages.storageFor(path))

  /** Returns a name that no table has, in this run or an earlier run in the same directories. */
  protected def freshTable(): String = "t_" + UUID.randomUUID().toString.replace('-', '_')

  /** Returns where the session's catalog keeps the files of a table that it manages. */
  protected def managedPath(table: String): String =
    spark.conf.get("spark.sql.warehouse.dir").replaceFirst("^file:/*", "/") + "/" + table

  protected def read(path: String, options: (String, String)*): DataFrame =
    spark.read.format("zrecord").options(options.toMap).load(path)

  protected def write(
      data: DataFrame,
      path: String,
      mode: String,
      options: (String, String)*
  ): Unit =
    data.write.format("zrecord").mode(mode).options(options.toMap).save(path)

  /** Returns all rows in index order, with their index. */
  protected def rows(data: DataFrame): Seq[Row] =
    data.select("*", "_index").orderBy("_index").collect().toSeq

  /** Returns the chunk file of a local shard that has one. */
  protected def chunkOf(shard: Path): Path = onlyFile(shard, ".zr")

  /** Returns the tables file of a local shard. */
  protected def tablesOf(shard: Path): Path = onlyFile(shard, ".tables")

  private def onlyFile(shard: Path, suffix: String): Path = {
    val found = filesBelow(shard.toString).filter(_.toString.endsWith(suffix))
    assert(found.size == 1, found)
    found.head
  }

  /** Returns where the values of a field begin in their chunks, in the order of the index. */
  protected def placesOf(path: String, fieldId: Int): Seq[Long] = {
    val table = tableAt(path).latest()
    val fields = table.schema().fields().stream().filter(_.id() == fieldId).toList
    val places = Seq.newBuilder[Long]
    val visitor = new ShardPlaces.Visitor {
      override def values(
          field: Int,
          chunk: Int,
          offset: Long,
          valueCount: Long,
          lengthBytes: Int,
          paddingBytes: Int
      ): Unit = places ++= (0L until valueCount).map(k => offset + k * lengthBytes)

      override def block(
          field: Int,
          chunk: Int,
          offset: Long,
          valueCount: Int,
          storedBytes: Int,
          paddingBytes: Int
      ): Unit = fail("values in a block have no places")

      override def changed(
          field: Int,
          chunk: Int,
          lengthBytes: Int,
          paddingBytes: Int
      ): Unit = fail("a changed value is in two places")

      override def superseded(chunk: Int, bytes: Long): Unit = ()

      override def records(chunk: Int, count: Long): Unit = ()
    }
    table
      .shards()
      .forEach(shard =>
        ShardPlaces.visit(OpenShards.unshared(table.storage(), shard), fields, visitor)
      )
    places.result()
  }

  /** Returns where a section of a field begins in a tables file. */
  protected def sectionOf(tables: Path, fieldId: Int, section: String): Int = {
    val file = ByteBuffer.wrap(Files.readAllBytes(tables)).order(ByteOrder.LITTLE_ENDIAN)
    val json = new ObjectMapper().readTree(
      file.array(),
      file.getLong(file.limit() - 16).toInt,
      file.getInt(file.limit() - 8)
    )
    val fields = json.get("fields")
    val field = (0 until fields.size).map(fields.get).find(_.get("id").intValue == fieldId).get
    field.get(section).get(0).intValue
  }

  /** Returns the files below a local path. */
  protected def filesBelow(path: String): Seq[Path] = {
    assert(!path.contains("://"), "what is not there has no files, and no test should rely on it")
    def list(file: File): Seq[File] =
      if (file.isDirectory) Option(file.listFiles()).toSeq.flatMap(_.toSeq).flatMap(list)
      else if (file.exists()) Seq(file)
      else Nil
    list(new File(path)).map(_.toPath)
  }

  /** Returns the bytes of sealed JSON, given all of it but the seal. */
  protected def sealedJson(json: String): Array[Byte] = {
    val crc = new CRC32C()
    crc.update(json.getBytes("UTF-8"))
    (json + f""","crc32c":"${crc.getValue.toInt}%08x"}""" + "\n").getBytes("UTF-8")
  }

  /** Does something while settings of the session have other values. */
  protected def setting[A](settings: (String, String)*)(action: => A): A = {
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try action
    finally settings.foreach { case (key, _) => spark.conf.unset(key) }
  }

  protected def listening[A](listener: SparkListener)(action: => A): A = {
    spark.sparkContext.addSparkListener(listener)
    try action
    finally spark.sparkContext.removeSparkListener(listener)
  }

  /** Tells whether a condition holds in time, such as after the clean-up of cancelled tasks. */
  protected def eventually(condition: => Boolean, seconds: Long = 120): Boolean = {
    val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds)
    while (!condition && System.nanoTime() < deadline) Thread.sleep(10)
    condition
  }

  /** Chooses a fifth of all combinations by default, at least one, and all of them from scale 1. */
  protected def chosen[A](all: Seq[A]): Seq[A] =
    chance.shuffle(all).take(Budget.of(all.size))

  /** What a test draws: it begins anew with each test, whichever tests ran before. */
  protected val chance = new Random(Budget.seed)

  /** Returns the message of an exception and of its causes. */
  protected def messages(e: Throwable): String =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).map(_.toString).mkString("\n")

  /** Tells whether an error refuses a NULL, and names the column and the remedy. */
  protected def isRefusalOfNull(message: String, column: String): Boolean =
    message.contains("NULL") && message.contains(s"the column '$column'") &&
      message.contains("declared NOT NULL; give a value")

  protected def failure(action: => Any): String =
    messages(intercept[Throwable](action))
}
