package io.zrecord.spark

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, Trigger}

/** Streams over files of JSON, and checkpoints that a test can turn back. */
trait StreamTables extends SparkSuite {
  private var files = 0

  protected def freshDirectory(): String = {
    val directory = freshLocalPath()
    Files.createDirectories(Paths.get(directory))
    directory
  }

  /** Adds a file with lines, which is newer than the files before. */
  protected def addLines(directory: String, lines: String*): Unit = {
    files += 1
    val file = Paths.get(directory, f"$files%06d.json")
    val written = Files.write(
      Paths.get(freshLocalPath()),
      lines.mkString("", "\n", "\n").getBytes(UTF_8)
    )
    written.toFile.setLastModified(System.currentTimeMillis() - 1000000 + files * 1000)
    Files.move(written, file)
  }

  /** Adds a file of records with the numbers. */
  protected def addIds(directory: String, ids: Seq[Long]): Unit =
    addLines(directory, ids.map(id => s"""{"id":$id}"""): _*)

  /** Returns the stream of the files of a directory, each file a batch. */
  protected def lines(directory: String, schema: String): DataFrame =
    spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(directory)

  /** Sets options by a method whose signature differs between releases of Spark. */
  protected def withOptions[T](
      writer: DataStreamWriter[T],
      options: (String, String)*
  ): DataStreamWriter[T] = {
    val set = writer.getClass.getMethod("option", classOf[String], classOf[String])
    options.foreach { case (key, value) => set.invoke(writer, key, value) }
    writer
  }

  /** Returns the writer of a stream that ends at the end of what there is. */
  protected def writer(
      source: DataFrame,
      checkpoint: String,
      options: (String, String)*
  ): DataStreamWriter[Row] =
    withOptions(
      source.writeStream.format("zrecord").trigger(Trigger.AvailableNow()),
      options :+ ("checkpointLocation" -> checkpoint): _*
    )

  /** Runs a stream to its end. */
  protected def run(start: => StreamingQuery): Unit = {
    val query = start
    try query.awaitTermination()
    finally query.stop()
  }

  /** Forgets that the last batch was done, as if the driver had died before Spark noted that. */
  protected def forgetLastCommit(checkpoint: String): Unit = {
    val noted = numbered(checkpoint, "commits")
    assert(noted.nonEmpty, checkpoint)
    val last = noted.maxBy(_.getFileName.toString.toLong)
    Files.delete(last)
    Files.deleteIfExists(last.resolveSibling(s".${last.getFileName}.crc"))
  }

  /** Returns the files of a log of a checkpoint that have a number. */
  protected def numbered(checkpoint: String, log: String): Seq[Path] =
    Option(new File(checkpoint, log).listFiles()).toSeq
      .flatMap(_.toSeq)
      .map(_.toPath)
      .filter(_.getFileName.toString.matches("[0-9]+"))
}
