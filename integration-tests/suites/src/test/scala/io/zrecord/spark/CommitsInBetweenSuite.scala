package io.zrecord.spark

import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Row, SparkSession}

/** Commits that come between the analysis of a statement and the run of its tasks: the statement
  * takes effect as if it came before or after the commit as a whole, or conflicts.
  */
class CommitsInBetweenSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.zrecord" -> classOf[ZRecordCatalog].getName
  )

  private val statements = Seq(
    "update T set label = label + (select max(label) from T) + 1 where id < 5",
    "update T set label = label + 1 where id in (select id from T where label < 100)",
    "delete from T where label = (select min(label) from T)",
    "delete from T where id in (select id + 1 from T where label >= 100)",
    "merge into T t using (select id + 1 as id, label from T where id < 8) s on t.id = s.id" +
      " when matched then update set label = s.label + 10" +
      " when not matched then insert (id, label) values (s.id, s.label)",
    "merge into T t using (select id + 15 as id, label from T) s on t.id = s.id" +
      " when not matched then insert (id, label) values (s.id, s.label)",
    "insert into T select id + 1000, label from T where id < 5",
    "insert into T select count(*) + 1000, max(label) from T",
    "insert overwrite T select id, label + 1 from T where id < 15",
    "update T set label = label + 1 where label = 0",
    "delete from T where label = 0",
    "insert into T select id + 1000, 0 from V where id < 5",
    "update T set label = (select max(label) from V) + 1 where id < 5"
  )

  private val commits = Seq(
    "update T set label = label + 100 where id < 12",
    "delete from T where id in (3, 17)",
    "insert into T values (50, 7), (51, 200)"
  )

  private def created(place: String): String = {
    val name =
      if (place == "a name") s"lake.${freshTable()}" else s"zrecord.`${freshPath()}`"
    spark.sql(s"create table $name (id bigint, label int) using zrecord")
    spark.sql(s"insert into $name select /*+ coalesce(1) */ id, 0 from range(10)")
    spark.sql(s"insert into $name select /*+ coalesce(1) */ id, int(id) from range(10, 20)")
    name
  }

  private def run(session: SparkSession, text: String, table: String, view: String): Unit = {
    session.sql(text.replaceAll("\\bT\\b", table).replaceAll("\\bV\\b", view)).collect()
    ()
  }

  private def rows(table: String): Seq[Row] =
    InterruptedSession
      .like(spark)
      .sql(s"select id, label from $table order by id, label")
      .collect()
      .toSeq

  /** Returns what the table has after statements, one after the other. */
  private def after(place: String, texts: String*): Seq[Row] = {
    val table = created(place)
    texts.foreach(run(InterruptedSession.like(spark), _, table, table))
    rows(table)
  }

  /** Tells whether Spark's exception, or what it was made of, is a conflict of zrecord. */
  private def isConflict(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).exists {
      case known: SparkThrowable => known.getErrorClass == "ZRECORD_COMMIT_CONFLICT"
      case _ => false
    }

  private def requireSerial(place: String, statement: String, commit: String, found: Try[Unit])(
      table: String
  ): Unit = {
    val result = rows(table)
    found match {
      case Success(()) =>
        val (first, second) = (after(place, commit, statement), after(place, statement, commit))
        assert(Seq(first, second).contains(result), s"$statement with $commit")
      case Failure(e) =>
        assert(isConflict(e), messages(e))
        assert(result == after(place, commit), s"$statement refused beside $commit")
    }
  }

  for (place <- Seq("a name", "a path"); point <- InterruptedSession.Points)
    test(s"statements on $place are serial with a commit between analysis and the end of $point") {
      var refused = 0
      for ((statement, commit) <- chosen(for (s <- statements; c <- commits) yield (s, c))) {
        val table = created(place)
        val interrupted = new InterruptedSession(spark, point)
        // A view, whose text is read with the statement.
        interrupted.session.sql(s"create temporary view v as select * from $table")
        Meanwhile.failure.set(null)
        Meanwhile.action.set(() => run(InterruptedSession.like(spark), commit, table, table))
        val found = Try(run(interrupted.session, statement, table, "v"))
        assert(Option(Meanwhile.action.get).isEmpty, s"no commit beside $statement")
        assert(Option(Meanwhile.failure.get).isEmpty)
        if (found.isFailure) refused += 1
        requireSerial(place, statement, commit, found)(table)
      }
      info(s"$refused statements were refused")
    }

  for (place <- Seq("a name", "a path"); cached <- Seq(false, true))
    test(s"frames of $place that were made before a commit are serial too, cached: $cached") {
      val writes = Seq[(String, String => Unit)](
        "insert into T select id + 1000, label from T where id < 15" -> { table =>
          held.selectExpr("id + 1000 id", "label").where("id < 1015").writeTo(table).append()
        },
        "insert overwrite T select id, label + 1 from T where id < 15" -> { table =>
          held
            .selectExpr("id", "label + 1 label")
            .where("id < 15")
            .writeTo(table)
            .overwrite(
              org.apache.spark.sql.functions.lit(true)
            )
        },
        "update T set label = (select max(label) from T) + 1 where id < 5" -> { table =>
          held.createOrReplaceTempView("held")
          spark.sql(s"update $table set label = (select max(label) from held) + 1 where id < 5")
          ()
        }
      )
      for ((statement, write) <- writes; commit <- commits) {
        val table = created(place)
        held = spark.table(table)
        if (cached) held.cache().count()
        run(InterruptedSession.like(spark), commit, table, table)
        val found = Try(write(table))
        requireSerial(place, statement, commit, found)(table)
        held.unpersist()
      }
    }

  private var held: org.apache.spark.sql.DataFrame = _
}
