package io.zrecord.spark

import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.functions.col

/** `mergeInto` of a data frame, which Spark 4.0 and later have, says what `MERGE` does. The suites
  * are compiled against Spark 3.5, so they call the methods by their names.
  */
class MergedFramesSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.zrecord" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def call(target: AnyRef, name: String, arguments: AnyRef*): AnyRef = {
    val method = target.getClass.getMethods
      .find(m => m.getName == name && m.getParameterCount == arguments.size)
      .getOrElse(fail(s"no method $name of ${target.getClass}"))
    method.setAccessible(true)
    method.invoke(target, arguments: _*)
  }

  private def merge(frame: DataFrame, table: String, on: Column)(
      clauses: (AnyRef => AnyRef)*
  ): Unit = {
    val writer = call(frame, "mergeInto", table, on)
    call(clauses.foldLeft(writer)((so, clause) => clause(so)), "merge")
    ()
  }

  private def created(place: String): String = {
    val (name, location) = place match {
      case "a name" => (s"lake.${freshTable()}", "")
      case "a path" => (s"zrecord.`${freshPath()}`", "")
      case _ => (s"default.${freshTable()}", s"location '${freshPath()}'")
    }
    spark.sql(s"create table $name (id bigint, label int, text string) using zrecord $location")
    spark.sql(s"insert into $name select id, 0, concat('t', id) from range(10)")
    name
  }

  private def rows(table: String, columns: String = "id, label, text"): Seq[Row] =
    spark.sql(s"select $columns from $table order by id").collect().toSeq

  private def source: DataFrame =
    spark.range(8, 12).selectExpr("id", "int(id) label", "concat('s', id) text").alias("s")

  for (place <- Seq("a name", "a path", "a session table"))
    test(s"a frame is merged into $place by all clauses") {
      assume(loadsClauses, "mergeInto is new in Spark 4.0")
      val table = created(place)
      merge(source, table, col(s"s.id") === col(target(table, "id")))(
        so => call(call(so, "whenMatched", col("s.id") === 9), "delete"),
        so => call(call(so, "whenMatched"), "updateAll"),
        so => call(call(so, "whenNotMatched"), "insertAll"),
        so => call(call(so, "whenNotMatchedBySource", col(target(table, "id")) < 2), "delete")
      )
      assert(
        rows(table) == (2L until 8).map(id => Row(id, 0, s"t$id")) ++
          Seq(Row(8L, 8, "s8"), Row(10L, 10, "s10"), Row(11L, 11, "s11"))
      )
    }

  for (place <- Seq("a name", "a path"))
    test(s"a frame with more columns is merged into $place with schema evolution, or refused") {
      assume(loadsAgain, "the columns of a table evolve in MERGE from Spark 4.1 on")
      val table = created(place)
      val wider = source.selectExpr("id", "label", "text", "id * 2 more").alias("s")
      def all(evolving: Boolean): Unit =
        merge(wider, table, col("s.id") === col(target(table, "id")))(
          so => if (evolving) call(so, "withSchemaEvolution") else so,
          so => call(call(so, "whenMatched"), "updateAll"),
          so => call(call(so, "whenNotMatched"), "insertAll")
        )
      all(evolving = false)
      assert(spark.table(table).columns.toSeq == Seq("id", "label", "text"))
      all(evolving = true)
      assert(
        rows(table, "id, label, more").drop(7) ==
          Seq(Row(7L, 0, null)) ++ (8L until 12).map(id => Row(id, id.toInt, id * 2))
      )
    }

  for (place <- Seq("a name", "a path"))
    test(s"INSERT WITH SCHEMA EVOLUTION adds the columns of the query to $place") {
      val Array(major, minor) = spark.version.split('.').take(2).map(_.toInt)
      assume(major * 10 + minor >= 42, "INSERT WITH SCHEMA EVOLUTION is new in Spark 4.2")
      val table = created(place)
      val version =
        (t: String) => spark.sql(s"select max(version) from $t.versions").head.getLong(0)
      val before = if (place == "a name") version(table) else 0
      spark.sql(
        s"insert with schema evolution into $table by name select 20L id, 'new' text, 1.5D more"
      )
      assert(spark.table(table).columns.toSeq == Seq("id", "label", "text", "more"))
      assert(
        rows(table, "id, label, text, more").takeRight(2) ==
          Seq(Row(9L, 0, "t9", null), Row(20L, null, "new", 1.5))
      )
      if (place == "a name") info(s"${version(table) - before} versions")
    }

  private def loadsClauses: Boolean = spark.version >= "4"

  /** Names a column of the target, which Spark knows by the whole name. */
  private def target(table: String, column: String): String = s"$table.$column"
}
