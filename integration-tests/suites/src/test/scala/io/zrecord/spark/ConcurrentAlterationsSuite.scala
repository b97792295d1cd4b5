package io.zrecord.spark

import java.util.concurrent.{CyclicBarrier, Executors, Future}

import scala.util.Try

import io.zrecord.spark.ddl.PatientStatements
import io.zrecord.table.SchemaChange
import io.zrecord.testing.Budget
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, lit, udf}

/** Statements that change a table at once, and beside writes, leave a table that all can read. */
class ConcurrentAlterationsSuite extends SparkSuite with AlteredTables {

  /** Does each action in a session of its own, all at once. */
  private def atOnce(actions: Seq[SparkSession => Any]): Seq[Try[Any]] = {
    val barrier = new CyclicBarrier(actions.size)
    val threads = Executors.newFixedThreadPool(actions.size)
    try {
      val running: Seq[Future[Try[Any]]] = actions.map { action =>
        val session = anotherSession()
        threads.submit { () =>
          SparkSession.setActiveSession(session)
          barrier.await()
          Try(action(session))
        }
      }
      running.map(_.get())
    } finally threads.shutdownNow()
  }

  test(s"names that differ by case only are not added at once (seed ${Budget.seed})") {
    for (_ <- 1 to Budget.of(25)) {
      val t = created("id int, a int")
      val outcomes = atOnce(
        Seq(
          _.sql(s"alter table ${t.name} add column foo int").collect(),
          _.sql(s"alter table ${t.name} add column FOO int").collect(),
          _.sql(s"alter table ${t.name} rename column a to Foo").collect()
        )
      )
      assert(outcomes.count(_.isSuccess) == 1, outcomes)
      assert(t.columns.count(_.equalsIgnoreCase("foo")) == 1)
    }
  }

  test("an append does not add a field whose name another one got since, but for its case") {
    for ((added, statement) <- Seq("n" -> "rename column a to N", "N" -> "add column n int")) {
      val t = created("id int, a int", "(1, 10)")
      val base = t.engine.latest()
      // The tasks run after the write is planned, and before it is committed.
      val table = t.table
      val slow = udf((id: Long) => { ConcurrentAlterationsSuite.await(table); id.toInt })
      val data = spark.range(1).select(slow(col("id")) as "id", lit(50) as "a", lit(500) as added)
      ConcurrentAlterationsSuite.hold(t.table)
      val thread = Executors.newSingleThreadExecutor()
      try {
        val running = thread.submit { () =>
          SparkSession.setActiveSession(spark)
          Try(write(data, t.path, "append", "mergeSchema" -> "true"))
        }
        assert(eventually(ConcurrentAlterationsSuite.isAwaited(t.table)))
        t.alter(statement)
        ConcurrentAlterationsSuite.release(t.table)
        val outcome = running.get()
        assert(outcome.isFailure, statement)
        assert(messages(outcome.failed.get).contains("ZRECORD_COMMIT_CONFLICT"), outcome)
        assert(
          t.rows.size == 1 && t.columns.size == base.schema().fields().size() +
            (if (statement.startsWith("add")) 1 else 0)
        )
      } finally {
        ConcurrentAlterationsSuite.release(t.table)
        thread.shutdownNow()
      }
    }
  }

  test("a table with names that differ by case only is mended with names told apart") {
    val t = created("id int, n int", "(1, 2)")
    SchemaChange.of(t.engine.latest()).rename("id", "N").commit()
    val message = failure(spark.table(t.name).select("n").collect())
    assert(message.contains("COLUMN_ALREADY_EXISTS") || message.contains("AMBIGUOUS"), message)
    setting("spark.sql.caseSensitive" -> "true")(t.alter("rename column N to id"))
    assert(t.rows == Seq(Seq(1, 2)))
  }

  test("statements that commute all take effect, however many come at once") {
    val t = created("id int", "(1)")
    val count = 24
    // A minute may be short for the last of them, where the machine is busy.
    val outcomes = PatientStatements.during {
      atOnce((1 to count).map { k => (session: SparkSession) =>
        session.sql(s"alter table ${t.name} add column c$k int default $k").collect()
      })
    }
    assert(outcomes.forall(_.isSuccess), outcomes.filter(_.isFailure))
    assert(t.columns.toSet == (1 to count).map(k => s"c$k").toSet + "id")
    assert(t.version == count + 1)
  }
}

/** Holds a write between its plan and its commit. Tasks and the test share a process. */
object ConcurrentAlterationsSuite {
  import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}

  private val held = new ConcurrentHashMap[String, CountDownLatch]()
  private val awaited = ConcurrentHashMap.newKeySet[String]()

  def hold(table: String): Unit = held.put(table, new CountDownLatch(1))
  def release(table: String): Unit = held.get(table).countDown()
  def isAwaited(table: String): Boolean = awaited.contains(table)

  def await(table: String): Unit = {
    awaited.add(table)
    held.get(table).await()
  }
}

/** The same of tables of the session's catalog. */
class ConcurrentAlterationsOfSessionSuite extends ConcurrentAlterationsSuite {
  override protected def inSessionCatalog: Boolean = true
}
