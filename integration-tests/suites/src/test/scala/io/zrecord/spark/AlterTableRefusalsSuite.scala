package io.zrecord.spark

import scala.collection.JavaConverters._

import org.apache.spark.sql.connector.catalog.{NamespaceChange, TableChange}
import org.apache.spark.sql.types.StringType

/** What no table keeps is refused, and nothing is changed. */
class AlterTableRefusalsSuite extends SparkSuite with AlteredTables {
  private def hasCollations: Boolean = !spark.version.startsWith("3.")

  if (!inSessionCatalog) test("a table keeps its place, its provider and its owner") {
    val t = created("id int", "(1)")
    t.refuses("set location '/elsewhere/x'", "/elsewhere/x", t.path)
    t.refuses(
      "set location of a path",
      sql(s"alter table lake.`${t.path}` set location '/elsewhere/x'"),
      Seq("/elsewhere/x", t.path)
    )
    val before = t.version
    t.alter(s"set location '${t.path}'")
    // Statements cannot say these, but other programs can.
    def refuses(change: TableChange, words: String*): Unit =
      t.refuses(words.head, t.change(change), words)
    refuses(TableChange.setProperty("provider", "parquet"), "'provider'", "parquet", "zrecord")
    for (name <- Seq("external", "owner", "is_managed_location", "table_type"))
      refuses(TableChange.setProperty(name, "true"), s"'$name'")
    for (name <- Seq("provider", "location", "external", "owner"))
      refuses(TableChange.removeProperty(name), s"'$name'")
    t.change(
      TableChange.setProperty("provider", "ZRecord"),
      TableChange.setProperty("location", t.path + "/")
    )
    assert(t.version == before && t.properties.isEmpty)
    assert(t.rows == Seq(Seq(1)))
  }

  test("no collation is declared but that of bytes, and a table can lose one") {
    val t = created("id int")
    t.refuses(
      "a collation",
      t.change(TableChange.setProperty("collation", "UTF8_LCASE")),
      Seq("UTF8_LCASE", "UTF8_BINARY")
    )
    t.change(TableChange.setProperty("collation", "UTF8_BINARY"))
    assert(t.properties.isEmpty)
    if (hasCollations) {
      t.refuses("default collation UTF8_LCASE", "UTF8_LCASE", "UTF8_BINARY")
      val other = new Altered
      val message = failure(
        sql(s"create table ${other.name} (id int) using zrecord default collation utf8_lcase")
      ).toUpperCase
      assert(message.contains("UTF8_LCASE") && message.contains("UTF8_BINARY"), message)
      assert(!other.engine.exists())
      sql(s"create table ${other.name} (id int) using zrecord default collation utf8_binary")
      assert(other.properties.isEmpty)
    }
    t.declare("collation" -> "UTF8_LCASE", "team" -> "vision")
    t.alter("add column s string")
    t.change(TableChange.setProperty("collation", "utf8_binary"))
    assert(t.properties == Map("team" -> "vision"))
  }

  test("no collation is declared of a namespace but that of bytes") {
    def space = Array("n" + freshTable())
    def collation(name: String) = Map("collation" -> name, "team" -> "vision").asJava
    val refused = space
    assert(
      failure(lake.createNamespace(refused, collation("UTF8_LCASE"))).contains("UTF8_LCASE")
    )
    assert(!lake.namespaceExists(refused))
    val made = space
    lake.createNamespace(made, collation("utf8_binary"))
    val change = NamespaceChange.setProperty("collation", "UNICODE")
    assert(failure(lake.alterNamespace(made, change)).contains("UNICODE"))
    lake.alterNamespace(made, NamespaceChange.setProperty("collation", "UTF8_BINARY"))
    assert(lake.loadNamespaceMetadata(made).asScala.keySet == Set("team", "location"))
  }

  test("what a manifest says does not speak as Spark's own") {
    val t = created("id int")
    t.declare(
      "external" -> "true",
      "owner" -> "nobody",
      "collation" -> "UTF8_LCASE",
      "table_type" -> "VIEW",
      "option.path" -> "/etc",
      "team" -> "vision"
    )
    val shown = sql(s"show tblproperties ${t.name}").map(_.getString(0))
    assert(shown == Seq("team"))
    val described =
      sql(s"describe extended ${t.name}").map(row => row.getString(0) -> row.getString(1)).toMap
    assert(described.get("Owner").forall(_ != "nobody"), described)
    assert(!described.contains("Collation") && described("Type") == "MANAGED", described)
    assert(!sql(s"show create table ${t.name}").head.getString(0).contains("/etc"))
    val foreign = t.properties.keySet - "team"
    t.change(foreign.toSeq.map(name => TableChange.removeProperty(name)): _*)
    assert(t.properties == Map("team" -> "vision"))
  }

  test("what would be taken for an option is no property") {
    val t = created("id int")
    for (
      name <- Seq(
        "option.compression",
        "Option.x",
        "versionAsOf",
        "TAG",
        "batchRows",
        "Compression",
        "WRITE.x",
        "spark.datasource.zrecord.compression",
        "Spark.Datasource.ZRecord.tag",
        "ZRECORD.isolation",
        "Zrecord.Isolation",
        "zrecord.Isolation"
      )
    )
      t.refuses(s"set tblproperties ('$name' = '1')", s"'$name'")
    t.refuses("set tblproperties ('FS.S3A.secret.key' = 'hush')", "FS.S3A.secret.key")
    for (name <- Seq("versionAsOf", "WRITE.x", "ZRECORD.isolation")) {
      val other = new Altered
      val message =
        failure(
          sql(
            s"create table ${other.name} (id int) using zrecord tblproperties ('$name' = '1')"
          )
        )
      assert(message.contains(s"'$name'"), message)
      assert(!other.engine.exists())
    }
    t.alter("set tblproperties ('zrecord.isolation' = 'snapshot', 'written' = 'x')")
    assert(t.properties.keySet == Set("zrecord.isolation", "written"))
  }

  test("what a statement may not set, a statement may remove") {
    val t = created("id int")
    val foreign = Seq("fs.s3a.secret.key", "write.x", "WRITE.y", "versionAsOf", "option.z")
    t.declare(foreign.map(_ -> "hush"): _*)
    t.alter(foreign.map(name => s"'$name'").mkString("unset tblproperties (", ", ", ")"))
    assert(t.properties.isEmpty)
    t.alter("unset tblproperties ('missing')")
  }

  test("a default that means another time each day is kept as text, whatever its quotes") {
    val t = created("id int")
    for (
      (default, n) <- Seq(
        """timestamp default cast("now" as timestamp)""",
        """timestamp default timestamp"now"""",
        "timestamp default cast(cast('No' || 'w' as string) as timestamp)",
        """timestamp default cast('\u006eow' as timestamp)""",
        """timestamp default timestamp'\u006eow'""",
        "timestamp default cast(cast('now' as string) as timestamp)",
        "timestamp default timestamp'12:30:00'",
        "timestamp default cast('T12:30' as timestamp)",
        "timestamp_ntz default timestamp_ntz'now'",
        "string default cast(timestamp'now' as string)",
        "string default cast(cast('now' as timestamp) as string)",
        "string default cast(date'today' as string)",
        """bigint default cast(timestamp"now" as bigint)""",
        "bigint default -cast(timestamp'now' as bigint)"
      ).zipWithIndex
    ) {
      t.alter(s"add column x$n $default")
      val schema = t.engine.latest().schema()
      val rules = schema.fields().get(schema.ordinal(s"x$n")).rules()
      assert(rules.hasDefaultExpression && rules.initial().isPresent, default)
      assert(rules.defaultSql() == default.split(" default ", 2)(1))
      t.alter(s"drop column x$n")
    }
    t.alter(
      "add columns (a string default 'now', b string default \"today's\", " +
        "c date default date'2026-01-02', d timestamp default timestamp\"2026-01-02 03:04:05\", " +
        "e timestamp_ntz default timestamp_ntz'2026', f date default date'epoch', " +
        "g string default cast(date'2026-01-02' as string), h date default cast(null as date))"
    )
    sql(
      s"insert into ${t.name} values (1, default, default, default, default, default, default, default, default)"
    )
    val row = t.rows.head.map(value => String.valueOf(value))
    assert(row.slice(1, 4) == Seq("now", "today's", "2026-01-02"))
    assert(row.drop(6) == Seq("1970-01-01", "2026-01-02", "null"))
  }

  test("no statement replaces all columns") {
    val t = created("a int, b string", "(1, 'x')")
    t.refuses("replace columns (c int)", "lose its values")
    t.refuses("replace columns (b string, c int)", "lose its values")
    t.refuses("replace columns (A int)", "lose its values")
    assert(t.rows == Seq(Seq(1, "x")))
    t.alter("drop column b")
    t.alter("add column c int")
  }

  test("refusals of columns name what a statement can do") {
    val t = created("id int, c int, w int", "(1, 2, 3)")
    t.refuses("add column s interval day", "declare string")
    t.refuses("add column s array<interval day>", "declare array<string>")
    t.refuses("alter column c after c", "'c'", "after itself")
    t.refuses("drop columns (w, w)", "'w' twice")
    t.refuses("drop columns (w, W)", "twice")
    for (statement <- Seq("rename column w to C", "add column ID int"))
      t.refuses(statement, "already exists")
    t.change(TableChange.renameColumn(Array("w"), "W"))
    assert(t.columns == Seq("id", "c", "W"))
  }

  test("a table is not altered while the session reads an older version") {
    val t = created("id int", "(1)")
    for (
      (option, value) <- Seq("versionAsOf" -> "0", "tag" -> "x", "timestampAsOf" -> "no time");
      statement <- Seq("add column x int", "set tblproperties ('a' = '1')")
    )
      setting(s"spark.datasource.zrecord.$option" -> value) {
        t.refuses(
          s"$statement at $option",
          t.change(
            if (statement.startsWith("add")) TableChange.addColumn(Array("x"), StringType)
            else TableChange.setProperty("a", "1")
          ),
          Seq(s"spark.datasource.zrecord.$option")
        )
        if (option == "versionAsOf") t.refuses(statement, s"spark.datasource.zrecord.$option")
      }
  }

  test("a default without SQL is refused, in releases that have such defaults") {
    val t = created("id int")
    val expression = classOf[org.apache.spark.sql.connector.expressions.Expression]
    if (loadsAgain) {
      val literal = org.apache.spark.sql.connector.expressions.Expressions.literal(5)
      val value = Class.forName("org.apache.spark.sql.connector.catalog.DefaultValue")
      val default = value.getConstructor(expression).newInstance(literal)
      val update = classOf[TableChange]
        .getMethod("updateColumnDefaultValue", classOf[Array[String]], value)
        .invoke(null, Array("id"), default.asInstanceOf[AnyRef])
        .asInstanceOf[TableChange]
      t.refuses("an expression", t.change(update), Seq("'id'", "SQL"))
      val columnDefault =
        Class.forName("org.apache.spark.sql.connector.catalog.ColumnDefaultValue")
      val literalValue = Class.forName("org.apache.spark.sql.connector.expressions.Literal")
      val added =
        columnDefault.getConstructor(expression, literalValue).newInstance(literal, literal)
      val add = TableChange.addColumn(
        Array("x"),
        StringType,
        true,
        null,
        null,
        added.asInstanceOf[org.apache.spark.sql.connector.catalog.ColumnDefaultValue]
      )
      t.refuses("an expression", t.change(add), Seq("'x'", "SQL"))
    }
  }

  test("a change that was committed is not reported as failed") {
    val t = created("id int")
    t.change(TableChange.setProperty("a", "1"))
    // Spark cannot load such a table, which only other programs make.
    t.engine.renameField("id", "_index")
    t.change(TableChange.setProperty("a", "2"))
    assert(t.properties == Map("a" -> "2"))
  }
}

/** The same of tables of the session's catalog. */
class AlterTableRefusalsOfSessionSuite extends AlterTableRefusalsSuite {
  override protected def inSessionCatalog: Boolean = true
}
