package io.zrecord.spark
package alone

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import org.apache.spark.TaskContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskStart}
import org.apache.spark.sql.functions.{col, udf}

/** Tasks that run twice at once. Spark never runs the second attempt on the host of the first,
  * which rules out local-cluster. So this is a standalone cluster of two workers with their own
  * addresses.
  */
class SpeculationSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String =
    "its workers are processes, which leave marks in local files"

  private lazy val directory = Paths.get(freshPath())
  private var processes = Seq.empty[Process]

  /** Where the master listens, which takes any port that is free and says which. */
  override protected lazy val master: String =
    raw"Starting Spark master at (spark://127\.0\.0\.1:\d+)".r
      .findFirstMatchIn(logOfMaster)
      .fold(fail(logOfMaster): String)(_.group(1))

  override protected def contextSettings: Map[String, String] =
    ClusterSuite.executorConfiguration ++ Map(
      "spark.driver.host" -> "127.0.0.1",
      "spark.speculation" -> "true",
      "spark.speculation.interval" -> "50ms",
      "spark.speculation.multiplier" -> "1.1",
      "spark.speculation.quantile" -> "0.1",
      "spark.speculation.minTaskRuntime" -> "100ms",
      // For jobs of one task.
      "spark.speculation.task.duration.threshold" -> "500ms",
      "spark.speculation.efficiency.enabled" -> "false"
    )

  override def beforeAll(): Unit = {
    val ports = Seq("--webui-port", "0")
    processes = Seq(start("master.Master", "127.0.0.1", Seq("--port", "0") ++ ports))
    // Who comes before the master is ready is not answered, and asks again after 20 seconds.
    assert(eventually(logOfMaster.contains("New state: ALIVE")), logOfMaster)
    processes ++=
      Seq("127.0.0.2", "127.0.0.3").map(host =>
        start("worker.Worker", host, Seq("--cores", "2", "--memory", "1g") ++ ports :+ master)
      )
    super.beforeAll()
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally processes.foreach(_.destroyForcibly())

  private def logOfMaster: String =
    new String(Files.readAllBytes(directory.resolve("master.Master-127.0.0.1/log")), UTF_8)

  private def shardsIn(path: String): Set[String] = new File(path, "shard").list().toSet

  private def start(daemon: String, host: String, arguments: Seq[String]): Process = {
    val home = System.getenv("SPARK_HOME")
    val work = Files.createDirectories(directory.resolve(s"$daemon-$host")).toFile
    val workDirectory = if (daemon.startsWith("worker")) Seq("--work-dir", work.getPath) else Nil
    val command =
      (SuiteProcess.java +: SuiteProcess.jvmOptions) ++
        Seq("-Xmx512m", "-cp", s"$home/jars/*", s"org.apache.spark.deploy.$daemon") ++
        Seq("--host", host) ++ workDirectory ++ arguments
    val builder = new ProcessBuilder(command: _*)
      .redirectErrorStream(true)
      .redirectOutput(new File(work, "log"))
    builder.environment().put("SPARK_LOCAL_IP", host)
    builder.start()
  }

  test("slow tasks that are run twice count once") {
    // Nobody else runs the second attempts while the executor of the other host is away.
    assert(eventually(ClusterSuite.processes(spark).size == 2))
    val path = freshPath()
    val slow = SpeculationSuite.slowFirstAttempt
    val speculative = new AtomicInteger()
    listening(new SparkListener {
      override def onTaskStart(start: SparkListenerTaskStart): Unit =
        if (start.taskInfo.speculative) speculative.incrementAndGet()
    }) {
      write(spark.range(0, 400, 1, 8).select(slow(col("id")).as("id")), path, "append")
      assert(eventually(speculative.get() > 0), "no task was run twice")
    }
    assert(rows(read(path)).map(_.getLong(0)) == (0L until 400L))
    // Attempts that lost delete their files, unless they were done when they lost.
    def shards = shardsIn(path).size
    assert(eventually(shards >= 8 && shards <= 8 + speculative.get()), shards)
  }

  test("a group whose task hangs is rewritten by another, and the first one cleans up") {
    val path = freshPath()
    write(ClusterSuite.shardsWorthAWhile(spark), path, "append")
    val expected = read(path).selectExpr("_index", "id", "md5(bin)").collect().toSeq
    // Attempts to write them may have lost when they were done.
    val written = shardsIn(path)
    var executors = Map.empty[String, Long]
    assert(eventually { executors = ClusterSuite.processes(spark); executors.size == 2 })
    val hanging = new AtomicReference[Option[Long]](None)
    val speculative = new AtomicInteger()
    def signal(name: String): Unit =
      hanging.get().foreach(pid => new ProcessBuilder("kill", name, pid.toString).start().waitFor())
    listening(new SparkListener {
      override def onTaskStart(start: SparkListenerTaskStart): Unit =
        if (start.taskInfo.speculative) speculative.incrementAndGet()
        else if (hanging.compareAndSet(None, executors.get(start.taskInfo.executorId)))
          signal("-STOP")
    }) {
      try {
        val result = Rebalance.of(spark, path).options(ClusterSuite.joinSlowly).run()
        assert(result.failures().isEmpty && result.after().shards() == 1, result)
        assert(eventually(speculative.get() > 0), "no task was run twice")
      } finally signal("-CONT")
    }
    assert(read(path).selectExpr("_index", "id", "md5(bin)").collect().toSeq == expected)
    assert(eventually((shardsIn(path) -- written).size == 1), "the loser did not clean up")
  }
}

object SpeculationSuite {
  val slowFirstAttempt = udf((id: Long) => {
    val task = TaskContext.get()
    if (task.attemptNumber() == 0 && task.partitionId() % 4 == 3) Thread.sleep(60)
    id
  })
}
