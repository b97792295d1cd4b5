package io.zrecord.spark
package alone

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerExecutorAdded,
  SparkListenerExecutorRemoved
}
import org.apache.spark.sql.functions.col

/** Executors that come and go between jobs and between the stages of one. */
class DynamicAllocationSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it is about executors that come and go, not about files"

  override protected def master: String = ClusterSuite.localCluster(2)

  override protected def contextSettings: Map[String, String] =
    ClusterSuite.executorConfiguration ++ Map(
      "spark.dynamicAllocation.enabled" -> "true",
      "spark.dynamicAllocation.shuffleTracking.enabled" -> "true",
      "spark.dynamicAllocation.shuffleTracking.timeout" -> "1s",
      "spark.dynamicAllocation.minExecutors" -> "0",
      "spark.dynamicAllocation.initialExecutors" -> "1",
      "spark.dynamicAllocation.maxExecutors" -> "2",
      "spark.dynamicAllocation.executorIdleTimeout" -> "1s",
      "spark.dynamicAllocation.schedulerBacklogTimeout" -> "1s"
    )

  test("what executors wrote that were removed since is read by others, and appended to") {
    val path = freshPath()
    val (added, removed) = (new AtomicInteger(), new AtomicInteger())
    listening(new SparkListener {
      override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit =
        added.incrementAndGet()
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
        removed.incrementAndGet()
    }) {
      def shuffled(from: Long) =
        spark.range(from, from + 400, 1, 8).repartition(4, col("id")).sortWithinPartitions("id")
      write(shuffled(0).toDF("id"), path, "append")
      assert(eventually(removed.get() > 0 && removed.get() >= added.get()), s"$added $removed")
      val before = added.get()
      // After all executors are gone: a join of two scans with a sampler, which executors keep.
      val shuffledOrder = read(path, "sampler" -> "shuffle", "seed" -> "7").select("id")
      write(
        read(path).join(shuffledOrder, "id").selectExpr("id + 400 as id"),
        path,
        "append"
      )
      assert(added.get() > before)
    }
    assert(read(path).collect().map(_.getLong(0)).sorted.toSeq == (0L until 800L))
    assert(Verify.of(spark, path).run().isSound)
  }
}
