package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.testing.Budget
import org.apache.spark.sql.DataFrame

/** Random appends, care and deaths of drivers: a stream through two tables has what a list has. */
class StreamModelSuite extends StreamTables {
  private class Model(random: Random) {
    private val (source, middle) = (freshPath(), freshPath())
    private val (first, second) = (freshDirectory(), freshDirectory())
    private var appended = 0L
    private val collected = ArrayBuffer.empty[(Long, Seq[Long])]
    private val isPartitioned = random.nextBoolean()
    private val startsAtVersion = random.nextBoolean()

    private def rows(from: Long, to: Long): DataFrame =
      spark.range(from, to, 1, 1 + random.nextInt(3)).selectExpr("id", "cast(id % 3 as int) part")

    private def append(): Unit = {
      val count = random.nextInt(20)
      val writer = rows(appended, appended + count).write.format("zrecord")
      if (tableAt(source).exists()) writer.mode("append").save(source)
      else if (isPartitioned) writer.partitionBy("part").save(source)
      else writer.save(source)
      appended += count
    }

    append()

    private def limits: Seq[(String, String)] = random.nextInt(4) match {
      case 0 => Seq("maxRecordsPerTrigger" -> (1 + random.nextInt(30)).toString)
      case 1 => Seq("maxShardsPerTrigger" -> (1 + random.nextInt(4)).toString)
      case 2 => Seq("maxBytesPerTrigger" -> (1 + random.nextInt(300)).toString)
      case _ => Nil
    }

    private def stream(path: String): DataFrame =
      (limits ++ (if (startsAtVersion) Seq("startingVersion" -> "0") else Nil))
        .foldLeft(spark.readStream.format("zrecord")) { case (reader, (key, value)) =>
          reader.option(key, value)
        }
        .load(path)

    /** Copies what is new to the next table. The driver may die after a batch, or in it. */
    private def copy(): Unit = {
      StreamModelSuite.dies = if (random.nextInt(3) == 0) random.nextInt(40).toLong else -1
      val copied = stream(source).selectExpr("zrecord_model(id) id", "part")
      try run(writer(copied, first).start(middle))
      catch { case e: Exception if messages(e).contains("the driver dies") => () }
      finally StreamModelSuite.dies = -1
      if (random.nextInt(3) == 0 && numbered(first, "commits").nonEmpty) forgetLastCommit(first)
    }

    /** Takes what is new of the next table. */
    private def collect(): Unit = if (tableAt(middle).exists()) {
      val dies = if (random.nextInt(3) == 0) random.nextInt(3) else -1
      var batches = 0
      val source = stream(middle)
      try
        run(
          withOptions(writer(source, second))
            .foreachBatch { (batch: DataFrame, number: Long) =>
              collected += number -> batch.collect().map(_.getLong(0)).toSeq.sorted
              batches += 1
              if (batches - 1 == dies) sys.error("the driver dies")
            }
            .start()
        )
      catch { case e: Exception if messages(e).contains("the driver dies") => () }
    }

    private def care(path: String): Unit = if (tableAt(path).exists()) random.nextInt(3) match {
      case 0 =>
        Rebalance.of(spark, path).options(RebalanceOptions.defaults()).run()
      case 1 =>
        val table = tableAt(path)
        table.tag(table.latest().version(), s"t-${table.latest().version()}")
      case 2 =>
        write(spark.range(0).selectExpr("id", "cast(id as int) part"), path, "append")
    }

    def step(): Unit = random.nextInt(6) match {
      case 0 | 1 => append()
      case 2 => copy()
      case 3 => collect()
      case 4 => care(source)
      case 5 => care(middle)
    }

    def check(): Unit = {
      copy()
      run(writer(stream(source).selectExpr("id", "part"), first).start(middle))
      val ids = 0L until appended
      assert(read(middle).select("id").collect().map(_.getLong(0)).sorted.toSeq == ids)
      assert(read(source).count() == appended)
      collect()
      run(
        writer(stream(middle), second)
          .foreachBatch { (batch: DataFrame, number: Long) =>
            collected += number -> batch.collect().map(_.getLong(0)).toSeq.sorted
            ()
          }
          .start()
      )
      val byNumber = collected.groupBy(_._1).toSeq.sortBy(_._1).map(_._2.map(_._2).distinct)
      assert(byNumber.forall(_.size == 1), "a batch that ran again had other records")
      assert(byNumber.flatMap(_.head).sorted == ids)
    }
  }

  test("random appends and care, and streams that die and go on, give what a list gives") {
    spark.udf.register(
      "zrecord_model",
      (id: Long) => if (id == StreamModelSuite.dies) sys.error("the driver dies") else id
    )
    val seed = Budget.seed
    for (round <- 1 to Budget.of(20)) {
      val model = new Model(new Random(seed + round))
      withClue(s"round $round: ") {
        for (_ <- 1 to 12) model.step()
        model.check()
      }
    }
  }
}

object StreamModelSuite {
  @volatile var dies: Long = -1
}
