package io.zrecord.spark

import java.io.{ByteArrayOutputStream, PrintStream}

import io.zrecord.rebalance.order.RecordOrder
import io.zrecord.shard.WriteOptions
import io.zrecord.table.{IndexMap, RecordTable, TableSnapshot}
import io.zrecord.testing.Budget

/** Tables to be written in another order by Spark, and checks of the result. */
trait RelayoutTables extends SparkSuite {
  protected val Mib = 1L << 20
  protected val Layout: WriteOptions = WriteOptions.defaults().withStripeBytes(1 << 16)
  protected val seed: Long = Budget.seed

  case class Said(exitCode: Int, out: String, err: String)

  protected def table(path: String): RecordTable = tableAt(path)

  protected def snapshot(path: String): TableSnapshot = table(path).latest()

  /** Writes about 4 MiB: a unique number, a number with many ties, and a text that is sometimes
    * absent.
    */
  protected def write(records: Int): String = {
    val path = freshPath()
    append(path, records, 400000 / records)
    path
  }

  protected def append(path: String, records: Int, repeats: Int = 1): Unit =
    write(
      spark
        .range(0, records, 1, 3)
        .selectExpr(
          "id",
          "id * 7919 % 10 tie",
          "if(id % 7 = 0, null, concat(id * 31 % 101, 't')) text",
          s"cast(repeat(lpad(string(id), 10, '0'), $repeats) as binary) bin"
        ),
      path,
      "append"
    )

  protected def relayout(path: String, order: RecordOrder): Relayout =
    Relayout.of(spark, path, order).layout(Layout, Mib)

  protected def newIndices(map: IndexMap): Seq[Long] = {
    val all = new Array[Long](map.length().toInt)
    map.newIndices(0, all, 0, all.length)
    all.toSeq
  }

  /** Returns the shards that versions name, including index maps. */
  protected def named(path: String): Set[String] = {
    val ids = Set.newBuilder[String]
    table(path).versions().forEach { number =>
      val version = table(path).version(number)
      version.shards().forEach(shard => ids += shard.id().toString)
      version.indexMap().ifPresent(map => ids += map.shard().id().toString)
    }
    ids.result()
  }

  protected def requireNoOrphan(path: String): Unit =
    assert(filesOf(path).shards == named(path))

  /** Runs the command in this process. */
  protected def command(arguments: String*): Said = {
    val (out, err) = (new ByteArrayOutputStream(), new ByteArrayOutputStream())
    val (standardOut, standardErr) = (System.out, System.err)
    System.setOut(new PrintStream(out, true, "UTF-8"))
    System.setErr(new PrintStream(err, true, "UTF-8"))
    val exitCode =
      try SubmittedCommand.execute(new RebalanceJob(), arguments: _*)
      finally {
        System.setOut(standardOut)
        System.setErr(standardErr)
      }
    Said(exitCode, out.toString("UTF-8"), err.toString("UTF-8"))
  }
}
