package io.zrecord.spark

import java.io.File
import java.nio.file.{Files, Paths}
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{CareMode, Orphan, RecordTable, SweepOptions}
import io.zrecord.testing.Budget
import org.apache.spark.sql.{Row, SparkSession}

/** Drivers that change the records of a table by one statement after the other are killed (SIGKILL)
  * at random instants, and each is followed by another driver.
  */
class StatementDeathSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String =
    "it kills drivers, which do not know the servers of this process"

  private val kills = Budget.of(4)
  private val seed = Budget.seed

  private def rowsAt(path: String, version: Long): Seq[Row] =
    read(path, "versionAsOf" -> version.toString)
      .selectExpr("id", "label", "part", "text", "md5(image)")
      .orderBy("id")
      .collect()
      .toSeq

  test(s"statements of drivers that are killed took effect whole or not at all ($seed)") {
    val random = new Random(seed)
    val path = freshPath()
    val model = freshPath()
    Seq(path, model).foreach(ChangingDriver.create(spark, _))
    var known = 0L
    for (kill <- 0 until kills) {
      val process = SubmittedProcess.start("io.zrecord.spark.ChangingDriver", path)
      assert(
        eventually(!process.isAlive || acknowledged(process) > known, 300),
        s"the driver did not change anything: ${process.err}"
      )
      val until = System.nanoTime() + random.nextInt(3000) * 1000000L
      while (System.nanoTime() < until && process.isAlive) Thread.sleep(1)
      assert(process.isAlive, s"the driver ended before it was killed: ${process.err}")
      process.kill()
      val last = acknowledged(process)
      val found = latest(path)
      assert(found == last || found == last + 1, s"kill $kill")
      // The same statements in a table beside, whose driver lives.
      for (version <- known until found) {
        ChangingDriver.change(spark, model, version)
        requireEqual(path, version + 1, model, version + 1)
      }
      known = found
    }
    val check = Verify.of(spark, path).allVersions().run()
    assert(check.isSound, check.toString)
    // What the dead have left is swept, and nothing that a version names.
    Files.write(
      Files.createDirectories(Paths.get(path, "shard", UUID.randomUUID.toString)).resolve("chunk"),
      Array[Byte](1)
    )
    val swept = orphans(path, CareMode.DELETE)
    assert(swept > 0)
    assert(orphans(path, CareMode.DRY_RUN) == 0)
    assert(Verify.of(spark, path).allVersions().run().isSound)
    // Each statement still does what it should, after those that were killed and the sweep.
    for (statement <- known until known + ChangingDriver.Statements) {
      Seq(path, model).foreach(ChangingDriver.change(spark, _, statement))
      requireEqual(path, latest(path), model, statement + 1)
    }
    info(s"$kills kills during $known statements; $swept files were left")
  }

  private def latest(path: String): Long = tableAt(path).latest().version()

  /** Requires that a version has the records of a version of the table beside, its newest one. */
  private def requireEqual(path: String, version: Long, model: String, its: Long): Unit = {
    assert(latest(model) == its)
    // Sequences, because a record must not be there twice either.
    val (found, expected) = (rowsAt(path, version), rowsAt(model, its))
    val differing = (found.diff(expected).take(3), expected.diff(found).take(3))
    assert(found == expected, s"version $version: $differing")
  }

  private def acknowledged(process: SubmittedProcess): Long =
    process.out.linesIterator
      .filter(_.startsWith(ChangingDriver.Acknowledgement))
      .map(_.stripPrefix(ChangingDriver.Acknowledgement))
      .filter(_.endsWith("."))
      .map(_.stripSuffix(".").toLong)
      .foldLeft(0L)(_ max _)

  /** Returns how many files a much later sweep finds that no version names. */
  private def orphans(path: String, mode: CareMode): Int = {
    def age(file: File): Unit = {
      Option(file.listFiles()).foreach(_.foreach(age))
      file.setLastModified(0)
    }
    age(new File(path))
    val found = new AtomicInteger
    tableAt(path).sweep(
      SweepOptions.defaults().withMode(mode),
      (_: Orphan) => { found.incrementAndGet(); () }
    )
    found.get
  }
}

/** Changes the records of a table by statements until it is killed. Prints the version after each.
  */
object ChangingDriver {
  val Acknowledgement = "version: "

  /** How many kinds of statements there are. */
  val Statements = 7

  /** Makes version 0: records in four partitions. */
  def create(spark: SparkSession, path: String): Unit =
    spark
      .range(0, 400, 1, 4)
      .selectExpr(columns: _*)
      .write
      .format("zrecord")
      .partitionBy("part")
      .save(path)

  private def columns: Seq[String] = Seq(
    "id",
    "cast(id % 50 as int) label",
    "concat('p', id % 4) part",
    "concat('text ', id) text",
    "cast(repeat(lpad(string(id), 10, '0'), 200) as binary) image"
  )

  /** Runs the statement that makes the next version of one. Each changes a record at least. */
  def change(spark: SparkSession, path: String, version: Long): Unit = {
    val t = s"zrecord.`$path`"
    val last = s"id = (select max(id) from $t)"
    def some(every: Int) = s"(pmod(id + $version, $every) = 1 or $last)"
    val statement = version % Statements match {
      case 0 => s"update $t set label = label + 1 where ${some(3)}"
      case 1 => s"delete from $t where ${some(19)}"
      case 2 =>
        s"""merge into $t t using (
           |  select ${columns.mkString(", ")} from range(${version * 1000}, ${version * 1000 + 60})
           |  union all select ${columns.mkString(", ")} from range(0, 400, 9)) s
           |on t.id = s.id
           |when matched then update set label = t.label + 1000, text = s.text
           |when not matched then insert *""".stripMargin
      case 3 =>
        s"update $t set part = concat('p', pmod(id + $version, 4)), label = label + 1 " +
          s"where ${some(5)}"
      case 4 =>
        s"insert into $t select ${columns.mkString(", ")} " +
          s"from range(${version * 1000}, ${version * 1000 + 40})"
      case 5 =>
        s"""merge into $t t using (select id from range(0, 400, 7)) s on t.id = s.id
           |when matched and pmod(t.id, 2) = 0 then delete
           |when matched then update set text = concat(t.text, '+')
           |when not matched then insert (id, label, part, text, image) values
           |  (s.id, 7, 'p1', 'again', null)""".stripMargin
      case 6 => s"update $t set image = cast(concat('i', $version) as binary) where ${some(11)}"
    }
    spark.sql(statement).collect()
  }

  def main(args: Array[String]): Unit = {
    val spark = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2")
      .getOrCreate()
    def version = RecordTable.at(SparkStorages.storageFor(args(0))).latest().version()
    while (!System.out.checkError()) { // The suite that reads the lines may have been killed.
      change(spark, args(0), version)
      println(s"$Acknowledgement$version.")
    }
  }
}
