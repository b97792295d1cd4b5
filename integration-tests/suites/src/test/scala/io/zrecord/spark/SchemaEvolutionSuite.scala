package io.zrecord.spark

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/** `MERGE` and `INSERT` `WITH SCHEMA EVOLUTION` from queries of other columns and types. */
class SchemaEvolutionSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.zrecord" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private val places = Seq("a name", "a path", "a session table")
  private val statements = Seq("MERGE", "INSERT")

  private def created(place: String, columns: String): String = {
    val (name, location) = place match {
      case "a name" => (s"lake.${freshTable()}", "")
      case "a path" => (s"zrecord.`${freshPath()}`", "")
      case _ => (s"default.${freshTable()}", s"location '${freshPath()}'")
    }
    spark.sql(s"create table $name ($columns) using zrecord $location")
    name
  }

  /** Adds the rows of a query to a table, of which the key is `id`. */
  private def change(statement: String, table: String, query: String): Unit = {
    spark.sql(statement match {
      case "MERGE" =>
        s"merge with schema evolution into $table t using ($query) s on t.id = s.id " +
          "when matched then update set * when not matched then insert *"
      case "INSERT" => s"insert with schema evolution into $table by name $query"
    })
    ()
  }

  private def assumeStatement(statement: String): Unit = {
    assume(loadsAgain, "WITH SCHEMA EVOLUTION takes effect from Spark 4.1 on")
    if (statement == "INSERT") assume(spark.version >= "4.2", "INSERT has the words from 4.2 on")
  }

  for {
    place <- places
    statement <- statements
    more <- Seq(false, true)
  }
    test(
      s"$statement into $place writes the default of a column that the query lacks" +
        s"${if (more) ", beside a new column" else ""}"
    ) {
      assumeStatement(statement)
      val table = created(place, "id bigint, label int default 7, text string default 'unknown'")
      spark.sql(s"insert into $table values (1, 1, 'a')")
      change(statement, table, s"select 20L id${if (more) ", true more" else ""}")
      assert(
        spark.sql(s"select id, label, text from $table order by id").collect().toSeq ==
          Seq(Row(1L, 1, "a"), Row(20L, 7, "unknown"))
      )
      if (more)
        assert(
          spark.sql(s"select more from $table order by id").collect().toSeq ==
            Seq(Row(null), Row(true))
        )
    }

  private val types = Seq(
    // Type of the table, type of the query, a value of the query, and the type afterwards.
    ("int", "smallint", "8", "int"),
    ("bigint", "int", "8", "bigint"),
    ("double", "float", "8", "double"),
    ("double", "int", "8", "double"),
    ("decimal(12,2)", "decimal(10,2)", "8", "decimal(12,2)"),
    ("smallint", "int", "8", "int"),
    ("int", "bigint", "8", "bigint"),
    ("float", "double", "8", "double"),
    ("decimal(10,2)", "decimal(12,2)", "8", "decimal(12,2)")
  )

  for {
    statement <- statements
    (had, given, value, has) <- types
  }
    test(s"$statement of a column of $given into one of $had makes the column $has") {
      assumeStatement(statement)
      for (place <- Seq("a name", "a path")) {
        val table = created(place, s"id bigint, v $had")
        spark.sql(s"insert into $table values (1, cast(5 as $had)), (2, cast(6 as $had))")
        def run(): Unit = change(
          statement,
          table,
          s"select id, cast($value as $given) v, true more from values (2L), (3L) as q(id)" +
            (if (statement == "INSERT") " where id = 3" else "")
        )
        if (had == has && spark.version < "4.2") {
          // Spark 4.1 does not ask: it wants the type of the query whatever the table says.
          val e = intercept[Exception](run())
          assert(messages(e).contains("cannot be read as"), messages(e))
          assert(spark.table(table).columns.toSeq == Seq("id", "v"))
        } else {
          run()
          assert(spark.table(table).schema("v").dataType == DataType.fromDDL(has))
          val changed = if (statement == "MERGE") 8 else 6
          assert(
            spark.sql(s"select id, int(v), more from $table order by id").collect().toSeq ==
              Seq(Row(1L, 5, null), Row(2L, changed, if (changed == 8) true else null)) :+
              Row(3L, 8, true)
          )
        }
      }
    }

  for (statement <- statements)
    test(s"$statement of a value that the kept type cannot hold fails, and changes no record") {
      assumeStatement(statement)
      assume(spark.version >= "4.2", "Spark 4.1 does not ask which types are kept")
      val table = created("a name", "id bigint, v int, check (v < 1000)")
      spark.sql(s"insert into $table values (1, 5)")
      // A check keeps the type.
      change(statement, table, "select 2L id, 9L v")
      assert(spark.table(table).schema("v").dataType == IntegerType)
      val e = intercept[Exception](change(statement, table, "select 3L id, 5000000000L v"))
      assert(messages(e).contains("OVERFLOW"), messages(e))
      assert(
        spark.sql(s"select id, v from $table order by id").collect().toSeq ==
          Seq(Row(1L, 5), Row(2L, 9))
      )
    }

  for (statement <- statements)
    test(s"$statement of members that a column lacks is refused, and changes nothing") {
      assumeStatement(statement)
      val table = created("a name", "id bigint, v struct<a: int>")
      spark.sql(s"insert into $table values (1, named_struct('a', 5))")
      val e = intercept[Exception](
        change(statement, table, "select 2L id, named_struct('a', 6, 'b', 7) v")
      )
      assert(messages(e).contains("within a column"), messages(e))
      assert(spark.table(table).schema("v").dataType == DataType.fromDDL("struct<a: int>"))
      assert(spark.table(table).count() == 1)
    }

  for (statement <- statements)
    test(s"$statement of wider members of a column casts them") {
      assumeStatement(statement)
      assume(spark.version >= "4.2", "Spark 4.1 does not ask which types are kept")
      val table = created("a name", "id bigint, v struct<a: int>")
      spark.sql(s"insert into $table values (1, named_struct('a', 5))")
      change(statement, table, "select 2L id, named_struct('a', 6L) v, 1 more")
      assert(spark.table(table).schema("v").dataType == DataType.fromDDL("struct<a: int>"))
      assert(
        spark.sql(s"select id, v.a, more from $table order by id").collect().toSeq ==
          Seq(Row(1L, 5, null), Row(2L, 6, 1))
      )
    }

  test("a frame that Spark cached of a table is found by a new one of the same version") {
    val table = created("a name", "id bigint")
    spark.sql(s"insert into $table values (1)")
    spark.sql(s"cache table $table")
    try assert(spark.table(table).queryExecution.withCachedData.toString.contains("InMemory"))
    finally spark.sql(s"uncache table $table")
  }
}
