package io.zrecord.spark
package alone

import java.io.StringWriter
import java.nio.file.Files
import java.util.UUID

import org.apache.logging.log4j.Level
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.util.QueryExecutionListener

/** Settings of Hadoop among options: they are obeyed, and nobody sees them. */
class OptionSettingsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it has a file system of its own, which asks for a key"

  private val secret = "hush" + UUID.randomUUID().toString.replace("-", "")
  private val marker = "seen" + UUID.randomUUID().toString.replace("-", "")
  private val eventLog = Files.createTempDirectory("events")

  override protected def configuration: Map[String, String] = CountingFileSystem.Settings ++
    (if (SPARK_VERSION < "4")
       Map("spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog")
     else Map.empty)

  override protected def contextSettings: Map[String, String] = Map(
    "spark.eventLog.enabled" -> "true",
    "spark.eventLog.compress" -> "false",
    "spark.eventLog.dir" -> eventLog.toUri.toString
  )

  private val key = CountingFileSystem.Key -> secret

  /** Returns a path that needs the key. */
  private def guarded(): String = {
    CountingFileSystem.expectedKey = secret
    s"count://${freshLocalPath()}/private/$marker"
  }

  private def data = spark.range(100).toDF()

  test("a key reaches the driver and the tasks of reads and writes in every mode") {
    val path = guarded()
    for (mode <- Seq("errorifexists", "append", "overwrite", "append")) write(data, path, mode, key)
    data.write.format("zrecord").mode("ignore").option(key._1, key._2).save(path)
    assert(read(path, key).selectExpr("sum(id)").head().getLong(0) == 2 * 4950)
    assert(read(path, key, "versionAsOf" -> "1").count() == 200)
    assert(read(path, key, "view" -> "shards").count() > 0)
    assert(read(path, key, "sampler" -> "shuffle", "seed" -> "1").count() == 200)
    assert(read(path.replace("/private", "/priv*"), key).count() == 200)
    assert(spark.read.format("zrecord").options(Map(key)).load(path, path).count() == 400)
  }

  test("a read without the key, or with another one, fails, also after one with the key") {
    val path = guarded()
    write(data, path, "append", key)
    assert(failure(read(path)).contains("access is denied"))
    assert(failure(read(path, CountingFileSystem.Key -> "other")).contains("access is denied"))
    assert(failure(write(data, path, "append")).contains("access is denied"))
    assert(read(path, key).count() == 100)
  }

  test("a sampled read has its own key, also after one with another key") {
    val path = guarded()
    write(data, path, "append", key)
    def sampled(ofRead: (String, String)) =
      read(path, ofRead, "sampler" -> "shuffle", "seed" -> "1").collect().length
    assert(sampled(key) == 100)
    CountingFileSystem.expectedKey = "renewed" + secret
    assert(sampled(CountingFileSystem.Key -> CountingFileSystem.expectedKey) == 100)
    assert(failure(sampled(key)).contains("access is denied"))
  }

  test("the session's default for a setting is obeyed in SQL too") {
    val path = guarded()
    // Spark writes what is set so late to its events, whatever the name.
    val shown = "shown" + UUID.randomUUID()
    CountingFileSystem.expectedKey = shown
    write(data, path, "append", CountingFileSystem.Key -> shown)
    val default = "spark.datasource.zrecord." + CountingFileSystem.Key
    spark.conf.set(default, shown)
    try {
      assert(read(path).count() == 100)
      assert(spark.sql(s"select sum(id) from zrecord.`$path`").head().getLong(0) == 4950)
      spark.sql(s"insert into zrecord.`$path` values (1)")
      assert(read(path).count() == 101)
    } finally spark.conf.unset(default)
    assert(failure(read(path)).contains("access is denied"))
  }

  test("zrecord.publish is an option, and a wrong one is refused") {
    val path = guarded()
    val message = failure(write(data, path, "append", key, "zrecord.publish" -> "perhaps"))
    assert(message.contains("zrecord.publish"))
    write(data, path, "append", key, "zrecord.publish" -> "create")
    assert(read(path, key).count() == 100)
  }

  test("other unknown options are refused, and name no value") {
    val path = guarded()
    val message = failure(write(data, path, "append", key, "fz.s3a.key" -> secret))
    assert(message.contains("fz.s3a.key") && !message.contains(secret))
  }

  test("settings that come too late are refused") {
    val path = guarded()
    write(data, path, "append", key)
    val late = Seq(
      s"create table zrecord.`$path 2` using zrecord options ('${key._1}' '$secret')" +
        " as select 1 as id"
    ) ++ (if (spark.version < "4") Nil
          else
            Seq(
              s"select * from zrecord.`$path` with ('${key._1}' = '$secret')",
              s"insert into zrecord.`$path` with ('${key._1}' = '$secret') values (1)"
            ))
    val open = path.replace("/private", "")
    write(data, open, "append")
    for (statement <- late.map(_.replace("/private", ""))) {
      val message = failure(spark.sql(statement).collect())
      assert(message.contains(s"spark.hadoop.${key._1}") && !causes(message).contains(secret))
    }
  }

  /** Returns the lines that are not the statement itself, which Spark may repeat. */
  private def causes(message: String): String =
    message.linesIterator.filter(_.contains("Exception: ")).mkString("\n")

  test("a table of the session's catalog keeps no setting") {
    val path = guarded().replace("/private", "")
    write(data, path, "append")
    for (
      statement <- Seq(
        s"create table ${freshTable()} using zrecord options ('${key._1}' '$secret') location '$path'",
        s"create table ${freshTable()} (id long) using zrecord options ('${key._1}' '$secret')" +
          s" location '$path'"
      )
    ) {
      val table = statement.split(" ")(2)
      val message = failure(spark.sql(statement))
      assert(message.contains("setting of Hadoop"), message)
      assert(!spark.catalog.tableExists(table))
    }
    val table = freshTable()
    val message = failure(data.write.format("zrecord").options(Map(key)).saveAsTable(table))
    assert(message.contains(key._1), message)
    assert(!spark.catalog.tableExists(table))
  }

  test("no plan, log, event or message shows a secret") {
    val path = guarded()
    val seen = new StringWriter()
    val plans = new QueryExecutionListener {
      private def add(plan: QueryExecution): Unit = seen.synchronized {
        seen.write(plan.toString())
        seen.write(plan.logical.toString() + plan.analyzed + plan.optimizedPlan.treeString)
        seen.write(plan.simpleString)
      }
      override def onSuccess(name: String, plan: QueryExecution, duration: Long): Unit = add(plan)
      override def onFailure(name: String, plan: QueryExecution, error: Exception): Unit = {
        add(plan)
        seen.write(trace(error))
      }
    }
    val logged = new StringWriter()
    val failures = new StringWriter()
    spark.listenerManager.register(plans)
    CapturedLogs.at(Level.DEBUG, logged) {
      for (mode <- Seq("errorifexists", "append", "overwrite")) write(data, path, mode, key)
      val frame = read(path, key).where("id > 3")
      frame.collect()
      seen.write(frame.toString)
      for (mode <- Seq("simple", "extended", "formatted", "cost", "codegen")) {
        seen.write(explained(frame, mode))
      }
      frame.createOrReplaceTempView("secretly")
      spark.sql("describe extended secretly").collect().foreach(row => seen.write(row.toString))
      spark
        .sql("explain extended select * from secretly")
        .collect()
        .foreach(row => seen.write(row.toString))
      for (
        action <- Seq[() => Any](
          () => read(path + "/none", key).collect(),
          () => read(path, CountingFileSystem.Key -> (secret + "1")).collect(),
          () => read(path + "/no*", key).collect(),
          () => read(path, key, "verfy" -> "x").collect(),
          () => read(path, key).selectExpr("raise_error(string(id))").collect(),
          () => write(data.toDF("other"), path, "append", key),
          () => write(data.selectExpr("assert_true(false)"), path, "append", key),
          () => write(data, path, "errorifexists", key)
        )
      ) failures.write(trace(intercept[Throwable](action())))
      assert(eventually(seen.toString.contains("AppendData")))
    }
    spark.listenerManager.unregister(plans)
    spark.stop()
    val events = filesBelow(eventLog.toString).map(file => new String(Files.readAllBytes(file)))
    for (
      (name, text) <- Seq(
        "plans" -> seen.toString,
        "log" -> logged.toString,
        "messages" -> failures.toString,
        "events" -> events.mkString
      )
    ) {
      assert(text.contains(marker), s"The control is missing in the $name")
      val at = text.indexOf(secret)
      assert(at < 0, s"The $name show the secret: …${text.slice(at - 500, at + 50)}")
    }
  }

  private def trace(error: Throwable): String = {
    val text = new StringWriter()
    error.printStackTrace(new java.io.PrintWriter(text, true))
    text.toString
  }

  private def explained(frame: org.apache.spark.sql.DataFrame, mode: String): String = {
    val text = new java.io.ByteArrayOutputStream()
    Console.withOut(text)(frame.explain(mode))
    text.toString("UTF-8")
  }
}
