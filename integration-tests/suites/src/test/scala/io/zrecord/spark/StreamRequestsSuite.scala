package io.zrecord.spark

import io.zrecord.spark.stream.TableStream
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.{Offset, ReadLimit}

/** What the planning of a batch of a stream asks of a storage. */
class StreamRequestsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it counts the requests to a file system of its own"

  override protected def configuration: Map[String, String] = CountingFileSystem.Settings

  private def stream(path: String, isOfChanges: Boolean): TableStream = {
    val frame = spark.readStream
      .format("zrecord")
      .options(Map("readChanges" -> isOfChanges.toString, "startingVersion" -> "0"))
      .load(path)
    val relation = frame.queryExecution.analyzed.collectFirst {
      case relation: StreamingRelationV2 =>
        relation
    }.get
    relation.table
      .asInstanceOf[SupportsRead]
      .newScanBuilder(relation.extraOptions)
      .build()
      .toMicroBatchStream("checkpoint")
      .asInstanceOf[TableStream]
  }

  private def opened(action: => Any): Seq[String] =
    CountingFileSystem.requestsOf(action).filter(_.name == "open").map(_.path)

  for (isOfChanges <- Seq(false, true))
    test(s"the versions of a batch are looked at once, with changes: $isOfChanges") {
      val path = "count://" + freshLocalPath()
      val versions = 12L
      for (id <- 0L until versions) write(spark.range(id, id + 1, 1, 1).toDF("id"), path, "append")
      if (isOfChanges) spark.sql(s"update zrecord.`$path` set id = -1 where id = 3")
      val planned = stream(path, isOfChanges)
      val start = planned.initialOffset()
      var end: Offset = null
      var parts: Array[InputPartition] = null
      assert(opened { end = planned.latestOffset(start, ReadLimit.allAvailable()) }.nonEmpty)
      assert(opened { parts = planned.planInputPartitions(start, end) } == Nil)
      assert(parts.length == 1)
      assert(planned.planInputPartitions(start, end).toSeq == parts.toSeq, "asked once more")

      val opening = stream(path, isOfChanges)
      assert(opened {
        assert(opening.planInputPartitions(start, end).toSeq == parts.toSeq)
      }.nonEmpty)
      val rest = planned.latestOffset(end, ReadLimit.allAvailable())
      assert(rest == end && planned.planInputPartitions(end, rest).isEmpty)
    }
}
