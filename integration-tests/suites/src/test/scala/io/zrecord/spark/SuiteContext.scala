package io.zrecord.spark

import org.apache.spark.sql.SparkSession

/** The only Spark context of this process. Suites that ask for the same master and settings share a
  * context; a suite that asks for others ends the context before. Starting a context costs as much
  * as a small suite.
  */
object SuiteContext {

  /** What belongs to a context. Everything else belongs to a session. */
  private case class Key(master: String, settings: Map[String, String])

  private var current: Option[(Key, SparkSession)] = None

  /** Returns how many contexts this process has started. */
  @volatile var startedCount = 0

  /** Returns a session of its own in a context with this master and these settings. */
  def newSession(master: String, settings: Map[String, String]): SparkSession = synchronized {
    val key = Key(master, settings)
    if (!current.exists { case (held, first) => held == key && !first.sparkContext.isStopped }) {
      end()
      current = Some(key -> start(key))
    }
    current.get._2.newSession()
  }

  /** Ends the context, if there is one. */
  def end(): Unit = synchronized {
    current.foreach(_._2.stop())
    current = None
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
  }

  private def start(key: Key): SparkSession = {
    val builder = SparkSession.builder().master(key.master).appName("suites")
    key.settings.foreach { case (name, value) => builder.config(name, value) }
    val session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    startedCount += 1
    session
  }
}
