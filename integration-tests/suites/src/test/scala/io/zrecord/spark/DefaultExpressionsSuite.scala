package io.zrecord.spark

import io.zrecord.RecordDatasetWriter
import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import io.zrecord.schema.FieldSpec
import io.zrecord.shard.WriteOptions

import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.catalog.{Column, ColumnDefaultValue, Identifier}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** DEFAULT values that are expressions: kept as text, and evaluated by each statement. */
class DefaultExpressionsSuite extends StreamTables {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.zrecord" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def release: Double = spark.version.split('.').take(2).mkString(".").toDouble

  /** Types with a default that is no constant, and a condition on the value that it has now. */
  private val kinds = Seq(
    ("date", "current_date()", "x = current_date()"),
    ("date", "current_date", "x = current_date()"),
    ("date", "date'today'", "x = current_date()"),
    ("date", "date_sub(current_date(), 7)", "x = date_sub(current_date(), 7)"),
    ("timestamp", "current_timestamp()", "x <= now() and x > now() - interval 1 hour"),
    ("timestamp", "timestamp'now'", "x <= now() and x > now() - interval 1 hour"),
    ("timestamp_ntz", "localtimestamp()", "x > localtimestamp() - interval 1 hour"),
    ("string", "cast(current_date() as string)", "x = string(current_date())"),
    ("string", "current_user()", "x = current_user()"),
    ("bigint", "cast(unix_seconds(now()) as bigint)", "x > 1000000000"),
    ("string", "concat('at ', timestamp'12:00')", "x like 'at %'"),
    ("string", "concat('it is ', now())", "x like 'it is 2%'"),
    ("int", "hour(timestamp'2020-01-01 00:00:00Z')", "x >= 0"),
    ("int", "cast(null as int) + 1", "x is null")
  )

  /** Defaults that have one value, whoever evaluates them: types, texts and values. */
  private val constants = Seq(
    ("int", "1 + 1", 2),
    ("bigint", "-(60 * 60) % 7L", -2L),
    ("double", "power(2, 10) / 4", 256.0),
    ("string", "concat('a', upper('b'), cast(3 as string))", "aB3"),
    ("string", "'a' || 'b'", "ab"),
    ("binary", "cast(repeat('a', 2) as binary)", "aa".getBytes.toSeq)
  )

  /** Kinds whose values no other writer could have as a constant. */
  private val onlyExpressions = Seq(
    ("array<int>", "array(1, 2)", "x = array(1, 2)"),
    ("array<string>", "array('a', null)", "size(x) = 2 and x[0] = 'a' and x[1] is null"),
    ("struct<a:int,b:string>", "named_struct('a', 1, 'b', 'c')", "x.a = 1 and x.b = 'c'"),
    ("map<string,int>", "map('k', 1)", "x['k'] = 1")
  )

  private class Table(val name: String, val path: String) {
    def fieldOf(column: String): FieldSpec = {
      val schema = tableAt(path).latest().schema()
      schema.fields().get(schema.ordinal(column))
    }

    def countWhere(condition: String): Long =
      sql(s"select count(*) from $name where $condition").head.getLong(0)
  }

  private def places: Seq[() => Table] = Seq(
    () => {
      val table = freshTable()
      new Table(s"lake.$table", s"$warehouse/$table")
    },
    () => {
      val path = freshPath()
      new Table(s"zrecord.`$path`", path)
    }
  )

  test("each kind of expression is kept as text, and each statement of SQL evaluates it") {
    for ((kind, n) <- (kinds ++ onlyExpressions).zipWithIndex) withClue(kind) {
      val (columnType, text, holds) = kind
      val t = places(n % 2)()
      sql(s"create table ${t.name} (id int, x $columnType default $text) using zrecord")
      assert(t.fieldOf("x").rules().defaultSql() == text)
      assert(t.fieldOf("x").rules().hasDefaultExpression)
      sql(s"insert into ${t.name} values (1, default)")
      sql(s"insert into ${t.name} (x, id) values (default, 2)")
      if (release >= 4.1) sql(s"insert into ${t.name} (id) values (3)")
      else sql(s"insert into ${t.name} select 3, t.x from ${t.name} t where id = 1")
      sql(s"insert into ${t.name} values (4, null)")
      sql(
        s"""merge into ${t.name} t using (select 5 as id) s on t.id = s.id
           | when not matched then insert (id, x) values (s.id, default)""".stripMargin
      )
      assert(t.countWhere(s"id <> 4 and ($holds)") == 4)
      assert(t.countWhere("id = 4 and x is null") == 1)
      sql(s"update ${t.name} set x = default where id = 4")
      assert(t.countWhere(holds) == 5)
      sql(s"update ${t.name} set x = null")
      sql(
        s"""merge into ${t.name} t using (select 5 as id) s on t.id = s.id
           | when matched then update set x = default""".stripMargin
      )
      assert(t.countWhere(s"id = 5 and ($holds)") == 1)
      assert(t.fieldOf("x").rules().defaultSql() == text)
    }
  }

  test("what has one value, whoever evaluates it, is a constant that every writer has") {
    for (((columnType, text, value), n) <- constants.zipWithIndex) withClue(text) {
      val t = places(n % 2)()
      sql(s"create table ${t.name} (id int, x $columnType default $text) using zrecord")
      assert(!t.fieldOf("x").rules().hasDefaultExpression)
      assert(t.fieldOf("x").rules().write().isPresent)
      sql(s"insert into ${t.name} values (1, default)")
      // A writer that evaluates no SQL.
      write(spark.range(2, 3, 1, 1).selectExpr("int(id) id"), t.path, "append")
      val found = sql(s"select x from ${t.name} order by id").map(_.get(0)).map {
        case bytes: Array[Byte] => bytes.toSeq
        case other => other
      }
      assert(found == Seq(value, value))
    }
  }

  test("a default that a program gives to the catalog as a text alone is kept") {
    assume(release >= 4.2, "Spark before 4.2 wants the value of a default beside its text")
    val catalog = new ZRecordCatalog
    catalog.initialize(
      "lake",
      new CaseInsensitiveStringMap(java.util.Map.of("warehouse", warehouse))
    )
    def column(name: String, of: DataType, text: String): Column =
      Column.create(name, of, true, null, new ColumnDefaultValue(text, null), null)
    val name = freshTable()
    catalog.createTable(
      Identifier.of(Array(), name),
      Array(
        Column.create("id", LongType),
        column("text", StringType, "'unknown'"),
        column("number", IntegerType, "1 + 1"),
        column("day", DateType, "current_date()")
      ),
      Array.empty[Transform],
      java.util.Map.of[String, String]()
    )
    spark.sql(s"insert into lake.$name (id) values (2)")
    assert(
      sql(s"select id, text, number, day = current_date() from lake.$name") ==
        Seq(Row(2L, "unknown", 2, true))
    )
  }

  test("records from before have the value of the day on which the column was added") {
    for ((kind, n) <- kinds.zipWithIndex) withClue(kind) {
      val (columnType, text, holds) = kind
      val t = places(n % 2)()
      sql(s"create table ${t.name} using zrecord as select int(id) as id from range(3)")
      sql(s"alter table ${t.name} add column x $columnType default $text")
      assert(t.fieldOf("x").rules().defaultSql() == text)
      assert(t.countWhere(holds) == 3)
      assert(sql(s"select count(distinct coalesce(string(x), '')) from ${t.name}") == Seq(Row(1L)))
      val before = sql(s"select x from ${t.name} order by id")
      sql(s"alter table ${t.name} alter column x drop default")
      sql(s"insert into ${t.name} values (4, default)")
      assert(t.countWhere("id = 4 and x is null") == 1)
      sql(s"alter table ${t.name} alter column x set default $text")
      assert(t.fieldOf("x").rules().defaultSql() == text)
      sql(s"insert into ${t.name} values (5, default)")
      assert(t.countWhere(s"id = 5 and ($holds)") == 1)
      assert(sql(s"select x from ${t.name} where id < 3 order by id") == before)
    }
  }

  test("a default changes from a constant to an expression, and back") {
    val t = places.head()
    sql(s"create table ${t.name} (id int, x date default date'2020-01-02') using zrecord")
    assert(!t.fieldOf("x").rules().hasDefaultExpression)
    sql(s"alter table ${t.name} alter column x set default current_date()")
    assert(t.fieldOf("x").rules().hasDefaultExpression)
    assert(t.fieldOf("x").rules().write().isEmpty)
    sql(s"alter table ${t.name} alter column x set default date'2020-01-03'")
    assert(!t.fieldOf("x").rules().hasDefaultExpression)
    append(t, "id", 1)
    assert(sql(s"select string(x) from ${t.name}") == Seq(Row("2020-01-03")))
  }

  /** Appends a record by the engine, which sets one field. */
  private def append(t: Table, field: String, value: Any): Unit = {
    val table = tableAt(t.path)
    val writer = RecordDatasetWriter
      .append(table.storage(), table.latest().schema(), WriteOptions.defaults())
    try {
      writer.newAppender().set(field, value).endRecord()
      writer.commit()
      ()
    } finally writer.close()
  }

  test("what does not evaluate an expression cannot leave the column out, nullable or not") {
    for (isNullable <- Seq(true, false)) {
      val t = places.head()
      val constraint = if (isNullable) "" else "not null"
      sql(
        s"create table ${t.name} (id int, x date $constraint default current_date()) using zrecord"
      )
      sql(s"insert into ${t.name} values (1, default)")
      val version = tableAt(t.path).latest().version()
      val lines = freshDirectory()
      addIds(lines, Seq(7L))
      val ids = spark.range(2, 3).selectExpr("cast(id as int) as id")
      for (
        (clue, words, statement) <- Seq[(String, String, () => Unit)](
          ("an appender", "current_date()", () => append(t, "id", 9)),
          ("an append by path", "only statements of SQL", () => write(ids, t.path, "append")),
          ("an overwrite by path", "only statements of SQL", () => write(ids, t.path, "overwrite")),
          (
            "an append that merges fields",
            "only statements of SQL",
            () => write(ids, t.path, "append", "mergeSchema" -> "true")
          ),
          (
            "a stream",
            "only statements of SQL",
            () => run(writer(this.lines(lines, "id int"), freshDirectory()).start(t.path))
          )
        )
      ) withClue(clue) {
        val refused = failure(statement())
        assert(refused.contains(words) && refused.contains("'x'"), refused)
        assert(tableAt(t.path).latest().version() == version)
      }
      val both = spark.sql("select 2 as id, date'2020-01-02' as x")
      write(both, t.path, "append")
      assert(sql(s"select string(x) from ${t.name} where id = 2") == Seq(Row("2020-01-02")))
    }
  }

  test("frames that are written by name have the value where Spark fills columns, from 4.1 on") {
    val t = places.head()
    sql(s"create table ${t.name} (id int, x date default current_date()) using zrecord")
    val ids = spark.range(2, 3).selectExpr("cast(id as int) as id")
    for (
      write <- Seq[() => Unit](
        () => ids.writeTo(t.name).append(),
        () => ids.writeTo(t.name).overwritePartitions()
      )
    )
      if (release >= 4.1) {
        write()
        assert(t.countWhere("x = current_date()") == 1)
      } else {
        val message = failure(write())
        assert(message.contains("`x`") || message.contains("'x'"), message)
      }
  }

  test("the text stays through all that is done to a table, and is shown") {
    val t = places.head()
    sql(s"create table ${t.name} (id int, x date default current_date(), y int) using zrecord")
    for (id <- 1 to 3) sql(s"insert into ${t.name} values ($id, default, $id)")
    def check(name: String, column: String = "x"): Unit = {
      assert(
        sql(s"select default from $name.fields where name = '$column'") ==
          Seq(Row("current_date()"))
      )
      val shown = sql(s"show create table $name").head.getString(0)
      assert(shown.contains("DEFAULT current_date()"), shown)
      if (release >= 4.0) {
        val described = sql(s"describe table extended $name").map(_.toString).mkString("\n")
        assert(described.contains("current_date()"), described)
      }
    }
    check(t.name)
    val version = tableAt(t.path).latest().version()
    val table = tableAt(t.path)
    val all = RebalanceOptions.defaults().withAllShards()
    TableRebalance.of(RebalancePlan.of(table.latest(), all)).run()
    check(t.name)
    sql(s"delete from ${t.name} where id = 1")
    sql(s"update ${t.name} set y = 5")
    check(t.name)
    sql(s"alter table ${t.name} rename column x to z")
    check(t.name, "z")
    sql(s"alter table ${t.name} add column more int")
    sql(s"alter table ${t.name} drop column y")
    check(t.name, "z")
    table.rollBack(version)
    check(t.name)
    sql(s"insert overwrite ${t.name} values (9, default, 9)")
    check(t.name)
    assert(t.countWhere("x = current_date()") == 1)
    if (release >= 4.2) {
      val other = s"lake.${freshTable()}"
      sql(s"create table $other like ${t.name}")
      check(other)
      sql(s"insert into $other values (1, default, 1)")
      assert(sql(s"select count(*) from $other where x = current_date()") == Seq(Row(1L)))
    }
    sql(s"create or replace table ${t.name} (id int, x date default current_date()) using zrecord")
    check(t.name)
    sql(s"insert into ${t.name} values (1, default)")
    assert(t.countWhere("x = current_date()") == 1)
  }

  test("what differs between the records of a statement is refused by Spark, in every statement") {
    val t = places.head()
    sql(s"create table ${t.name} (id int, x string, y double) using zrecord")
    val version = tableAt(t.path).latest().version()
    for (
      (column, columnType, text) <- Seq(
        ("x", "string", "uuid()"),
        ("y", "double", "rand()"),
        ("x", "string", "(select 'a')"),
        ("x", "string", "nothing"),
        ("x", "string", "unknown_function()"),
        ("y", "double", "array(1)")
      );
      statement <- Seq(
        s"create table lake.${freshTable()} (x $columnType default $text) using zrecord",
        s"alter table ${t.name} add column z $columnType default $text",
        s"alter table ${t.name} alter column $column set default $text"
      )
    ) withClue(statement) {
      val refused = failure(sql(statement))
      assert(refused.contains("DEFAULT") || refused.contains("default"), refused)
      assert(tableAt(t.path).latest().version() == version)
    }
  }

  test("a column is not added with an expression of a type of which no constant is kept") {
    for ((columnType, text, _) <- onlyExpressions) {
      val t = places.head()
      sql(s"create table ${t.name} using zrecord as select int(id) as id from range(3)")
      val refused = failure(sql(s"alter table ${t.name} add column x $columnType default $text"))
      assert(refused.contains("a default of the type"), refused)
      sql(s"alter table ${t.name} add column x $columnType")
      sql(s"alter table ${t.name} alter column x set default $text")
      assert(t.countWhere("x is null") == 3)
    }
  }

  test("a DEFAULT has one value for all records of a statement, and the next a later one") {
    val t = places.head()
    sql(s"create table ${t.name} (id int, x timestamp default current_timestamp()) using zrecord")
    sql(s"insert into ${t.name} select int(id), null from range(50)")
    val times = for (_ <- 1 to 3) yield {
      sql(s"update ${t.name} set x = default")
      val row = sql(s"select count(distinct x), unix_micros(min(x)) from ${t.name}").head
      assert(row.getLong(0) == 1)
      row.getLong(1)
    }
    assert(times == times.sorted && times.distinct.size == 3)
  }
}
