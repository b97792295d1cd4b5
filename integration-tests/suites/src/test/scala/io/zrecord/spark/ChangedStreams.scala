package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.Trigger

/** Streams of what versions of a table changed. */
trait ChangedStreams extends StreamTables with ChangedTables with ExpiredVersions {
  protected def random = new Random(Budget.seed)

  protected def reader(options: Seq[(String, String)]) =
    (("readChanges" -> "true") +: options).foldLeft(spark.readStream.format("zrecord")) {
      case (made, (key, value)) => made.option(key, value)
    }

  protected def byPath(table: ChangedTable, options: (String, String)*): DataFrame =
    reader(options).load(table.path)

  protected def byName(table: ChangedTable, options: (String, String)*): DataFrame =
    reader(options).table(table.name)

  /** Runs a stream to the end of what there is, and returns the number and rows of each batch. */
  protected def batches(
      source: DataFrame,
      checkpoint: String,
      dies: Long = -1,
      trigger: Trigger = Trigger.AvailableNow()
  )(onBatch: Long => Unit = _ => ()): Seq[(Long, Seq[Change])] = {
    val found = ArrayBuffer.empty[(Long, Seq[Change])]
    val query = withOptions(
      source.selectExpr(columns: _*).writeStream.trigger(trigger),
      "checkpointLocation" -> checkpoint
    ).foreachBatch { (batch: DataFrame, number: Long) =>
      found += number -> batch.collect().toSeq.map(change)
      if (number == dies) sys.error("the driver dies")
      onBatch(number)
    }.start()
    try query.awaitTermination()
    catch { case e: Exception if messages(e).contains("the driver dies") => () }
    finally query.stop()
    found.toSeq
  }

  protected def all(source: DataFrame, checkpoint: String = freshDirectory()): Seq[Change] =
    batches(source, checkpoint)().flatMap(_._2)

  protected def sorted(rows: Seq[Change]): Seq[Change] = rows.sortBy(_.toString)

  protected def filled(): ChangedTable = {
    val table = new ChangedTable(random)
    table.insert(4)
    table.update(3, 1)
    table.delete(3, 2)
    table.rebalance()
    table.merge(3, 2)
    assert(table.last == 5)
    table
  }

  /** Returns the records of a version as a stream begins with them. */
  protected def initial(table: ChangedTable, version: Long): Seq[Change] =
    table.versions(version.toInt).values.toSeq.map(rec => ("insert", version, rec))
}
