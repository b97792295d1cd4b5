package io.zrecord.spark

import java.util.concurrent.{ConcurrentLinkedQueue, CyclicBarrier}

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{Compression, ElementType, FieldRules, FieldSpec, Identity, RecordSchema}
import io.zrecord.schema.Shape
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.rules.LateChecks
import io.zrecord.spark.write.CheckedSessions
import io.zrecord.testing.Budget
import org.apache.logging.log4j.Level
import org.apache.spark.sql.{DataFrame, Row, SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.functions.lit

/** What sessions that PySpark makes are protected from. */
class PySparkSessionSuite extends SparkSuite with PySparkSessions with NumberedTables {
  private def load(session: SparkSession, path: String): DataFrame =
    session.read.format("zrecord").load(path)

  private def ids(path: String): Seq[Long] = read(path).collect().map(_.getLong(0)).sorted.toSeq

  for (
    (what, query) <- Seq[(String, DataFrame => DataFrame)](
      "as it is" -> identity,
      "aggregated" -> (_.groupBy("id").count().select("id")),
      "in a subquery" -> { old =>
        old.createOrReplaceTempView("old")
        old.sparkSession.sql("select 5 + id id from range(2) where id in (select id from old)")
      },
      "cached" -> { old =>
        val kept = old.cache(); kept.count(); kept
      },
      "cached after a shuffle" -> { old =>
        val kept = old.groupBy("id").count().select("id").cache()
        kept.count()
        kept
      },
      "cached of what is cached" -> { old =>
        val kept = old.cache().where("id >= 0").cache()
        kept.count()
        kept
      },
      "counted and cached" -> { old =>
        val kept = old.selectExpr("count(*) id").cache()
        kept.count()
        kept
      },
      "cached with a subquery" -> { old =>
        old.createOrReplaceTempView("old")
        val kept = old.sparkSession
          .sql("select 5 + id id from range(2) where id >= (select min(id) from old)")
          .cache()
        kept.count()
        kept
      }
    );
    isUsed <- Seq(false, true)
  )
    test(
      s"an overwrite loses no rows that were appended since its query read: $what, " +
        (if (isUsed) "in a session in use" else "in a new session")
    ) {
      val path = freshPath()
      write(spark.range(5).toDF("id"), path, "append")
      inPySpark { session =>
        if (isUsed) session.range(3).selectExpr("id + 1").collect()
        val old = query(load(session, path))
        old.collect()
        write(session.range(5, 8).toDF("id"), path, "append")
        val message =
          failure(old.write.format("zrecord").mode("overwrite").save(path))
        assert(message.contains("reads version 0, but version 1 is the newest"), message)
        assert(ids(path) == (0L until 8L))
        load(session, path)
          .groupBy("id")
          .count()
          .select("id")
          .write
          .format("zrecord")
          .mode("overwrite")
          .save(path)
        assert(ids(path) == (0L until 8L))
        session.catalog.clearCache()
      }
    }

  test("rules that cannot be added are a warning, once for a session, with the line to set") {
    val text = new java.io.StringWriter
    CapturedLogs.at(Level.WARN, text) {
      for (_ <- 1 to 2) inPySpark { _ =>
        for (_ <- 1 to 3)
          LateExtensions.ensure(_ => throw new IllegalStateException("other rules"))
      }
    }
    val said = "spark.sql.extensions=io.zrecord.spark.ZRecordSessionExtensions"
    assert(text.toString.sliding(said.length).count(_ == said) == 2, text)
  }

  test("SQL reaches datasets by path once the session has met the data source") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    inPySpark { session =>
      load(session, path).count()
      session.read
        .format("zrecord")
        .option("versionAsOf", "0")
        .load(path)
        .createOrReplaceTempView("old")
      session.sql(s"insert into zrecord.`$path` select id + 5 from range(3)")
      val message = failure(session.sql(s"insert overwrite zrecord.`$path` select id from old"))
      assert(message.contains("reads version 0, but version 1 is the newest"), message)
      session.sql(s"insert overwrite zrecord.`$path` select distinct id from zrecord.`$path`")
      assert(ids(path) == (0L until 8L))
    }
  }

  test("a catalog that is configured brings the protection") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    inPySpark { session =>
      session.conf.set("spark.sql.catalog.zrecord", "io.zrecord.spark.ZRecordCatalog")
      session.sql(s"insert into zrecord.`$path` select id + 5 from range(3)")
      val old = session.sql(s"select * from zrecord.`$path` version as of 0")
      val message = failure(old.writeTo(s"zrecord.`$path`").overwrite(lit(true)))
      assert(message.contains("reads version 0, but version 1 is the newest"), message)
      assert(ids(path) == (0L until 8L))
    }
  }

  /** Makes a dataset whose field `n` is NOT NULL. */
  private def withoutNulls(): String = {
    val path = freshPath()
    val fields = Seq(
      new FieldSpec(1, "id", ElementType.I32, Shape.scalar(), Compression.RAW),
      new FieldSpec(2, "n", ElementType.I32, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withNullable(false))
    )
    val writer = RecordDatasetWriter.create(
      filesOf(path).storage,
      new RecordSchema(fields.asJava),
      WriteOptions.defaults()
    )
    try writer.commit()
    finally writer.close()
    path
  }

  for (
    statement <- Seq(
      "insert into t values (1, null)",
      "insert into t values (1, 2), (2, null)",
      "insert into t (n, id) values (null, 1)",
      "insert into t select 1, null",
      "insert into t select id, if(id = 1, null, id) from range(3)",
      "insert overwrite t values (1, null)"
    );
    isUsed <- Seq(false, true)
  )
    test(
      s"NOT NULL holds for: $statement, " +
        (if (isUsed) "in a session that has met the data source" else "in a new session")
    ) {
      val path = withoutNulls()
      inPySpark { session =>
        session.conf.set("spark.sql.catalog.zrecord", "io.zrecord.spark.ZRecordCatalog")
        if (isUsed) assert(load(session, path).count() == 0)
        val insert = statement.replace(" t ", s" zrecord.`$path` ")
        val message = failure(session.sql(insert))
        assert(read(path).count() == 0)
        assert(isRefusalOfNull(message, "n"), message)
      }
    }

  for (
    values <- Seq("(1, null)", "(1, 2), (2, null)");
    load <- Seq[(String, (SparkSession, String) => DataFrame)](
      "load" -> (load(_, _)),
      "table" -> ((session, path) => session.table(s"zrecord.`$path`"))
    )
  )
    test(s"NOT NULL holds for VALUES $values that are inserted into a view of ${load._1}") {
      val path = withoutNulls()
      inPySpark { session =>
        session.conf.set("spark.sql.catalog.zrecord", "io.zrecord.spark.ZRecordCatalog")
        load._2(session, path).createOrReplaceTempView("v")
        val message = failure(session.sql(s"insert into v values $values"))
        assert(read(path).count() == 0)
        assert(isRefusalOfNull(message, "n"), message)
      }
    }

  for (insert <- Seq("insert into v values (null, 't', 1)", "insert into v select null, 't', 1"))
    test(s"$insert, where v is a view of a table that numbers its records, has a number") {
      val path = numberedTable(Identity.always(1, 10, 1))
      inPySpark { session =>
        load(session, path).createOrReplaceTempView("v")
        session.sql(insert)
        assert(read(path).select("label").collect().toSeq == Seq(Row(1)))
      }
    }

  test("Spark 3 replaces no table by a table that its session catalog cannot keep") {
    assume(spark.version.startsWith("3."), "Spark 4 keeps such tables")
    inPySpark { session =>
      val table = freshTable()
      session.sql(s"create table $table using parquet as select 1 a")
      val message =
        failure(session.sql(s"create or replace table $table using zrecord as select 1 / 0 a"))
      assert(session.table(table).count() == 1, message)
      session.sql(s"drop table $table")
    }
  }

  test("an overwrite is refused where no rule can be added, with the line that adds them") {
    assume(spark.version.startsWith("3."), "PySpark 4 asks services for extensions")
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    inPySpark { session =>
      session.conf.set("spark.sql.catalog.zrecord_paths", "io.zrecord.spark.catalog.PathCatalog")
      val data = session.range(1).toDF("id")
      // The source meets another session than the one that runs the write.
      def overwrite(options: (String, String)*): Unit =
        within(spark)(write(data, path, "overwrite", options: _*))
      val refused = failure(overwrite())
      assert(
        refused.contains("set spark.sql.extensions=io.zrecord.spark.ZRecordSessionExtensions"),
        refused
      )
      assert(ids(path) == (0L until 5L))
      overwrite("expectedVersion" -> "0")
      assert(ids(path) == Seq(0L))
    }
  }

  private type Extensions = SparkSessionExtensions

  /** Builds the rules of an optimizer, which adds another rule while it does so. */
  private def builtWhile(add: Extensions => Unit): (Int, Int) = {
    val extensions = new SparkSessionExtensions
    var isFirst = true
    for (_ <- 1 to 3)
      extensions.injectOptimizerRule { _ =>
        if (isFirst) {
          isFirst = false
          val adding = new Thread(() => add(extensions))
          adding.start()
          adding.join()
        }
        new LateChecks
      }
    val build = classOf[Extensions].getMethod("buildOptimizerRules", classOf[SparkSession])
    def count = build.invoke(extensions, spark).asInstanceOf[Seq[_]].size
    (count, count)
  }

  test("rules are added beside a query that is going through the rules") {
    val rule: SparkSession => Rule[LogicalPlan] = _ => new LateChecks
    val added = builtWhile(LateExtensions.addRules(_, java.util.Arrays.asList(rule)))
    assert(added == ((3, 4)))
    // Spark's own way changes the list under that query, which newer lists of Scala notice.
    if (scala.util.Properties.versionNumberString.startsWith("2.13"))
      assert(
        failure(builtWhile(_.injectOptimizerRule(rule))).contains("ConcurrentModification")
      )
  }

  test("many threads start queries while a session first meets the data source") {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    for (_ <- 0 until Budget.of(25)) inPySpark { session =>
      val start = new CyclicBarrier(6)
      val failures = new ConcurrentLinkedQueue[Throwable]
      val threads =
        for (i <- 0 until 6)
          yield new Thread(() =>
            try {
              SparkSession.setActiveSession(session)
              start.await()
              if (i == 0) assert(load(session, path).queryExecution.optimizedPlan != null)
              else
                for (n <- 0 until 5)
                  assert(session.range(3).where(s"id > $n").queryExecution.optimizedPlan != null)
            } catch { case e: Throwable => failures.add(e) }
          )
      threads.foreach(_.start())
      threads.foreach(_.join())
      assert(failures.isEmpty, Option(failures.peek).map(messages).getOrElse(""))
      assert(CheckedSessions.extensionsOf(session).filter(CheckedSessions.contains(_)).isPresent)
    }
  }
}
