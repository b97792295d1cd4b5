package io.zrecord.spark

import java.nio.file.{Files, Paths}

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.streaming.{DataStreamWriter, Trigger}

/** Drivers that copy a table by streams and by CREATE TABLE AS SELECT are killed (SIGKILL) at
  * random instants, and each is followed by another driver with the same checkpoints.
  */
class StreamDeathSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String =
    "it kills drivers, which do not know the servers of this process"

  private val kills = Budget.of(4)
  private val seed = Budget.seed

  test(s"streams of drivers that are killed give each record once, and tables are whole ($seed)") {
    val random = new Random(seed)
    val directory = freshLocalPath()
    Files.createDirectories(Paths.get(directory))
    val source = s"$directory/source"
    var added = 0L
    def grow(): Unit = {
      write(spark.range(added, added + 500, 1, 2).toDF("id"), source, "append")
      added += 500
    }
    grow()
    for (kill <- 0 until kills) {
      grow()
      val before = progress(directory)
      val process = SubmittedProcess.start("io.zrecord.spark.StreamingDriver", directory)
      assert(
        eventually(!process.isAlive || progress(directory) > before, 300),
        s"the driver did nothing: ${process.err}"
      )
      val until = System.nanoTime() + random.nextInt(4000) * 1000000L
      while (System.nanoTime() < until && process.isAlive) Thread.sleep(1)
      assert(process.isAlive, s"the driver ended before it was killed: ${process.err}")
      process.kill()
      for (target <- Seq("appended", "merged") if tableAt(s"$directory/$target").exists()) {
        val found = read(s"$directory/$target").select("id").collect().map(_.getLong(0)).toSeq
        assert(found.distinct.size == found.size, s"kill $kill: $target has a record twice")
        assert(found.forall(id => id >= 0 && id < added), target)
      }
      // Each table has all records that its query was given, or is not there.
      for (made <- StreamingDriver.tables(directory))
        assert(read(made).count() % StreamingDriver.Rows == 0, made)
    }
    grow()
    StreamingDriver.stream(spark, directory)
    for (target <- Seq("appended", "merged")) {
      val found = read(s"$directory/$target").select("id").collect().map(_.getLong(0)).toSeq
      assert(found.sorted == (0L until added), target)
      assert(Verify.of(spark, s"$directory/$target").allVersions().run().isSound)
    }
    assert(StreamingDriver.tables(directory).nonEmpty)
    info(s"$kills kills, $added records, ${StreamingDriver.tables(directory).size} tables")
  }

  /** Counts what drivers have committed. */
  private def progress(directory: String): Long =
    Seq("appended", "merged")
      .map(target => tableAt(s"$directory/$target"))
      .filter(_.exists())
      .map(_.latest().version() + 1)
      .sum + StreamingDriver.tables(directory).size
}

/** Copies a table by two streams, and makes tables by queries, until it is killed. */
object StreamingDriver {
  val Rows = 300

  /** Returns the places of the tables that queries have made. */
  def tables(directory: String): Seq[String] =
    Option(Paths.get(directory, "lake").toFile.listFiles()).toSeq.flatten
      .filter(table => Paths.get(table.getPath, "manifest").toFile.exists())
      .filter(table =>
        io.zrecord.table.RecordTable
          .at(io.zrecord.spark.path.SparkStorages.storageFor(table.getPath))
          .exists()
      )
      .map(_.getPath)

  /** Runs both streams to the end of what there is. */
  def stream(spark: SparkSession, directory: String): Unit = {
    def source: DataFrame =
      spark.readStream
        .format("zrecord")
        .option("maxRecordsPerTrigger", "150")
        .load(s"$directory/source")
    def writer(checkpoint: String): DataStreamWriter[Row] = {
      val made = source.writeStream.trigger(Trigger.AvailableNow())
      // The signature differs between releases.
      made.getClass
        .getMethod("option", classOf[String], classOf[String])
        .invoke(made, "checkpointLocation", s"$directory/$checkpoint")
      made
    }
    val append =
      writer("checkpoint-appended").format("zrecord").start(s"$directory/appended")
    try append.awaitTermination()
    finally append.stop()
    val merged = s"zrecord.`$directory/merged`"
    spark.sql(s"create table if not exists $merged (id bigint)")
    val merge = writer("checkpoint-merged")
      .foreachBatch((batch: DataFrame, _: Long) => {
        batch.createOrReplaceTempView("batch")
        batch.sparkSession.sql(
          s"merge into $merged t using batch s on t.id = s.id when not matched then insert *"
        )
        ()
      })
      .start()
    try merge.awaitTermination()
    finally merge.stop()
  }

  def main(args: Array[String]): Unit = {
    val directory = args(0)
    val spark = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2")
      .config("spark.sql.catalog.lake", classOf[ZRecordCatalog].getName)
      .config("spark.sql.catalog.lake.warehouse", s"$directory/lake")
      .getOrCreate()
    while (true) {
      val name = s"t${System.nanoTime()}"
      val rows = s"select id, repeat('x', 2000) text from range(0, $Rows, 1, 3)"
      spark.sql(s"create table lake.$name using zrecord as $rows")
      spark.sql(s"create or replace table lake.$name using zrecord as $rows union all $rows")
      stream(spark, directory)
    }
  }
}
