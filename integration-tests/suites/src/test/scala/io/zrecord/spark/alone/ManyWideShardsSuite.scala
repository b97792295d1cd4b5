package io.zrecord.spark
package alone

import io.zrecord.RecordDatasetWriter
import io.zrecord.rebalance.RebalanceOptions
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.{Durability, WriteOptions}
import org.scalatest.tags.Slow

/** A group of very many small shards with very many fields, on a cluster whose messages are small.
  * The descriptions of the shards are several times as long as a message may be.
  */
@Slow
class ManyWideShardsSuite extends SparkSuite {
  private val shards = 700
  private val fields = 201

  override protected def master: String = ClusterSuite.localCluster(1)

  override protected def contextSettings: Map[String, String] =
    ClusterSuite.executorConfiguration + ("spark.rpc.message.maxSize" -> "1")

  private lazy val path: String = {
    val target = freshLocalPath()
    val builder = RecordSchema.builder()
    (1 to fields).foreach(id => builder.field(s"f$id", ElementType.I64))
    val options = WriteOptions.defaults().withDurability(Durability.NONE)
    for (first <- 0 until shards by 25) {
      val writer = RecordDatasetWriter.append(target, builder.build(), options)
      try {
        for (shard <- first until first + 25) {
          val records = writer.newAppender()
          (1 to fields).foreach(id => records.set(s"f$id", shard.toLong * id))
          records.endRecord()
        }
        writer.commit()
      } finally writer.close()
    }
    target
  }

  private def sums: Seq[Long] =
    read(path)
      .selectExpr(Seq(1, 100, fields).map(id => s"sum(f$id)"): _*)
      .head()
      .toSeq
      .map(_.asInstanceOf[Long])

  private val expected: Seq[Long] =
    Seq(1, 100, fields).map(id => (0L until shards).map(_ * id).sum)

  test("a group of many shards with many fields is rewritten by a task") {
    assert(tableAt(path).latest().shards().size == shards)
    val options = RebalanceOptions.defaults().withShardBytes(1L << 30, 1L << 30)
    val result = Rebalance.of(spark, path).options(options).run()
    assert(result.failures().isEmpty, result.failures())
    assert(tableAt(path).latest().shards().size == 1)
    assert(sums == expected)
  }

  test("the control: a task with half of a message more than that is refused") {
    val long = "x" * (3 << 19)
    val error = intercept[org.apache.spark.SparkException] {
      spark.sparkContext.parallelize(Seq(long), 1).map(_.length).collect()
    }
    assert(error.getMessage.contains("spark.rpc.message.maxSize"))
  }
}
