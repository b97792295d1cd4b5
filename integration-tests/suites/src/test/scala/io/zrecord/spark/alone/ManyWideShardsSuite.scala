package io.zrecord.spark
package alone

import io.zrecord.RecordDatasetWriter
import io.zrecord.rebalance.{RebalanceGroup, RebalanceOptions}
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.{Durability, WriteOptions}
import io.zrecord.spark.job.ObjectBytes
import org.apache.spark.SparkException
import org.scalatest.tags.Slow

/** A group of shards whose descriptions are longer than Spark lets a message to an executor be. */
@Slow
class ManyWideShardsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it is about what executors get, not about files"

  private val shardCount = 700
  private val fieldCount = 201
  private val messageBytes = 1 << 20

  override protected def master: String = ClusterSuite.localCluster(2)

  override protected def contextSettings: Map[String, String] =
    ClusterSuite.executorConfiguration + ("spark.rpc.message.maxSize" -> "1")

  private val toOneShard = RebalanceOptions.defaults().withShardBytes(1L << 30, 1L << 30)

  /** A record of each shard. */
  private def written(): String = {
    val target = freshLocalPath()
    val schema = RecordSchema.builder()
    (0 until fieldCount).foreach(field => schema.field(s"f$field", ElementType.I64))
    val options = WriteOptions.defaults().withDurability(Durability.NONE)
    for (first <- 0 until shardCount by 25) {
      val writer = RecordDatasetWriter.append(target, schema.build(), options)
      try {
        for (shard <- first until first + 25) {
          val records = writer.newAppender()
          (0 until fieldCount).foreach(field => records.set(s"f$field", value(shard, field)))
          records.endRecord()
        }
        writer.commit()
      } finally writer.close()
    }
    target
  }

  private def value(shard: Int, field: Int): Long = shard.toLong * fieldCount + field

  private def sentWithTask(group: RebalanceGroup): Any =
    spark.sparkContext.parallelize(Seq(ObjectBytes.of(group)), 1).map(_.length).collect()

  test("a task rewrites a group whose description is longer than a message") {
    val path = written()
    assert(tableAt(path).latest().shards().size == shardCount)
    val groups = Rebalance.of(spark, path).options(toOneShard).plan().groups()
    assert(groups.size == 1 && groups.get(0).shards().size == shardCount)

    // The control: what the task has to know does not reach an executor together with the task.
    assert(ObjectBytes.of(groups.get(0)).length > messageBytes)
    val refused = intercept[SparkException](sentWithTask(groups.get(0)))
    assert(refused.getMessage.contains("spark.rpc.message.maxSize"))

    val result = Rebalance.of(spark, path).options(toOneShard).run()
    assert(result.failures().isEmpty && result.records() == shardCount, result)
    assert(tableAt(path).latest().shards().size == 1)
    assert(
      rows(read(path)).map(_.toSeq) == (0 until shardCount).map(shard =>
        (0 until fieldCount).map(value(shard, _)) :+ shard.toLong
      )
    )
    assert(Verify.of(spark, path).run().isSound)
  }
}
