package io.zrecord.spark

import java.io.{BufferedReader, File, InputStreamReader}
import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.SparkSession

/** Drivers that append one batch after the other are killed (SIGKILL) at random instants, and each
  * is followed by another driver.
  */
class DriverDeathSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String =
    "it kills drivers, which do not know the servers of this process"

  private val kills = Budget.of(3)
  private val seed = Budget.seed

  test(s"a driver that is killed leaves whole batches, and all that it acknowledged ($seed)") {
    val path = freshPath()
    val random = new Random(seed)
    var unacknowledged = 0
    for (_ <- 0 until kills) {
      val acknowledged = appendUntilKilled(path, random.nextInt(400).toLong)
      val found = rows(read(path)).map(_.getLong(0))
      assert(found == found.indices.map(_.toLong), "whole batches, in order, each once")
      assert(found.size % AppendingDriver.BatchRecords == 0)
      val batches = found.size / AppendingDriver.BatchRecords
      assert(batches == acknowledged || batches == acknowledged + 1)
      unacknowledged += batches - acknowledged.toInt
    }
    info(s"$kills kills; $unacknowledged batches were published and not acknowledged any more")
  }

  /** Runs a driver and kills it. Returns how many batches were acknowledged, in all. */
  private def appendUntilKilled(path: String, delayMillis: Long): Long = {
    val command = SuiteProcess.command("io.zrecord.spark.AppendingDriver") :+ path
    val process = new ProcessBuilder(command: _*)
      .redirectError(ProcessBuilder.Redirect.DISCARD)
      .start()
    val acknowledged = new AtomicLong(-1)
    val first = new CountDownLatch(1)
    val listener = new Thread(() => {
      val lines = new BufferedReader(new InputStreamReader(process.getInputStream, "UTF-8"))
      Iterator.continually(lines.readLine()).takeWhile(_ != null).foreach { line =>
        if (line.startsWith(AppendingDriver.Acknowledgement)) {
          acknowledged.set(line.stripPrefix(AppendingDriver.Acknowledgement).toLong)
          first.countDown()
        }
      }
    })
    listener.start()
    try {
      assert(first.await(2, TimeUnit.MINUTES), "the driver did not append anything")
      Thread.sleep(delayMillis)
    } finally process.toHandle.destroyForcibly()
    process.waitFor()
    listener.join()
    acknowledged.get()
  }
}

/** Appends batches of ascending numbers until it is killed. Prints the number of batches after
  * each.
  */
object AppendingDriver {
  val BatchRecords = 100
  val Acknowledgement = "batches: "

  def main(args: Array[String]): Unit = {
    val path = args(0)
    val spark = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .getOrCreate()
    val exists = new File(path, "manifest").exists()
    var batches =
      if (exists) spark.read.format("zrecord").load(path).count() / BatchRecords else 0L
    while (!System.out.checkError()) { // The suite that reads the lines may have been killed.
      spark
        .range(batches * BatchRecords, (batches + 1) * BatchRecords, 1, 4)
        .toDF("id")
        .write
        .format("zrecord")
        .mode("append")
        .save(path)
      batches += 1
      println(Acknowledgement + batches)
    }
  }
}
