package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.table.{DeclarationChange, RecordTable}
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog, TableChange}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Tables of a catalog with a warehouse, or of the session's catalog, to be altered. */
trait AlteredTables { suite: SparkSuite =>
  protected lazy val warehouse: String = freshPath()

  /** Whether the tables are in the session's catalog. */
  protected def inSessionCatalog: Boolean = false

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName,
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  protected def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** The catalog, as programs call it that have no statements. */
  protected lazy val catalog: TableCatalog =
    if (inSessionCatalog)
      sessionCatalog()
    else lake

  /** Calls by name what is a class in some releases and an interface in others. */
  private def sessionCatalog(): TableCatalog = {
    val state = spark.sessionState
    val manager = state.getClass.getMethod("catalogManager").invoke(state)
    manager.getClass
      .getMethod("catalog", classOf[String])
      .invoke(manager, "spark_catalog")
      .asInstanceOf[TableCatalog]
  }

  /** The catalog with a warehouse. */
  protected lazy val lake: ZRecordCatalog = {
    val made = new ZRecordCatalog
    made.initialize("lake", new CaseInsensitiveStringMap(Map("warehouse" -> warehouse).asJava))
    made
  }

  /** A table of a catalog. */
  protected class Altered {
    val table: String = freshTable()
    val name: String = if (inSessionCatalog) table else s"lake.$table"
    val path: String = if (inSessionCatalog) managedPath(table) else s"$warehouse/$table"

    def engine: RecordTable = tableAt(path)
    def version: Long = engine.latest().version()
    def columns: Seq[String] = spark.table(name).columns.toSeq
    def rows: Seq[Seq[Any]] = sql(s"select * from $name order by _index").map(_.toSeq)

    def properties: Map[String, String] =
      engine.latest().declarations().properties().asScala.toMap

    def alter(statement: String): Unit = sql(s"alter table $name $statement")

    /** Makes changes without a statement, as other programs do. */
    def change(changes: TableChange*): Unit =
      catalog.alterTable(
        Identifier.of(if (inSessionCatalog) Array("default") else Array(), table),
        changes: _*
      )

    /** Sets properties as a program without Spark does. */
    def declare(properties: (String, String)*): Unit = {
      val change = DeclarationChange.of(engine.latest())
      properties.foreach { case (key, value) => change.set(key, value) }
      change.commit()
    }

    /** Says that a statement fails with words, and changes nothing. */
    def refuses(statement: String, words: String*): Unit =
      refuses(statement, alter(statement), words)

    def refuses(what: String, action: => Any, words: Seq[String]): Unit = {
      val before = version
      val message = failure(action)
      words.foreach(word => assert(message.contains(word), s"$what: $message"))
      assert(version == before, what)
    }
  }

  protected def created(columns: String, values: String*): Altered = {
    val t = new Altered
    sql(s"create table ${t.name} ($columns) using zrecord")
    if (values.nonEmpty) sql(s"insert into ${t.name} values ${values.mkString(", ")}")
    t
  }

  /** Returns another session with the catalog. */
  protected def anotherSession(): SparkSession = {
    val session = spark.newSession()
    configuration.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }
}
