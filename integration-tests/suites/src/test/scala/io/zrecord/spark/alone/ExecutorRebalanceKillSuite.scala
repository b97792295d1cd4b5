package io.zrecord.spark
package alone

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd, SparkListenerTaskStart}

/** Executors are killed (SIGKILL) at random moments of rebalances, again and again in one
  * application. Tasks are run again elsewhere, and each rebalance ends.
  */
class ExecutorRebalanceKillSuite extends RebalanceKills {
  private val Executors = 2
  private val Groups = 10

  override protected def master: String = ClusterSuite.localCluster(Executors)

  override protected def contextSettings: Map[String, String] = ClusterSuite.executorConfiguration

  /** Returns process ids by executor, of all executors. */
  private def processes(): Map[String, Long] = {
    var found = Map.empty[String, Long]
    val areAll = eventually(
      {
        found = ClusterSuite.processes(spark)
        found.size == Executors && found.values.forall(ProcessHandle.of(_).isPresent)
      },
      120
    )
    assert(areAll, found)
    found
  }

  test(s"executors that are killed lose nothing, whatever a rebalance is at ($seed)") {
    val random = new Random(seed)
    var again = 0
    for (kill <- 0 until kills) {
      val path = writeGroups(Groups)
      val expected = digests(read(path))
      val executors = processes()
      val target = random.nextInt(Groups)
      val delayMillis = random.nextInt(200).toLong
      val isOther = random.nextInt(4) == 0
      val started = new AtomicInteger()
      val failed = new AtomicInteger()
      // In its own thread: the listener would hold up the messages of tasks.
      @volatile var killer: Option[Thread] = None
      listening(new SparkListener {
        override def onTaskStart(start: SparkListenerTaskStart): Unit =
          if (started.getAndIncrement() == target) {
            val victim =
              executors.find { case (id, _) => (id == start.taskInfo.executorId) != isOther }.get._2
            val thread = new Thread(() => {
              TimeUnit.MILLISECONDS.sleep(delayMillis)
              ProcessHandle.of(victim).get().destroyForcibly()
            })
            killer = Some(thread)
            thread.start()
          }
        override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
          if (end.taskInfo.failed) failed.incrementAndGet()
      }) {
        val result = Rebalance.of(spark, path).options(pairsSlowly).run()
        assert(result.failures().isEmpty && result.groups() == Groups, s"kill $kill: $result")
        assert(eventually(killer.isDefined))
        killer.get.join()
      }
      again += failed.get()
      requireWhole(path, expected, kill)
    }
    info(s"$kills kills; $again tasks were run again")
  }
}
