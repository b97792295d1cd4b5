package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.schema.Constraint
import io.zrecord.shard.WriteOptions
import io.zrecord.{RecordDatasetWriter => EngineWriter}
import org.apache.spark.SparkException
import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog, TableChange}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Constraints in SQL, of tables at names and at paths. Older Sparks have no words for them. */
class ConstraintsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName,
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private case class Target(name: String, path: String) {
    def constraints: Seq[Constraint] =
      tableAt(path).latest().declarations().constraints().asScala.toSeq
    def constraint(name: String): Constraint = constraints.find(_.name() == name).get
    def version: Long = tableAt(path).latest().version()
    def apply(change: String): Unit = sql(s"alter table $name $change")
  }

  private def place(where: String): Target = {
    val table = freshTable()
    val path = s"$warehouse/$table"
    where match {
      case "a name" => Target(s"lake.$table", path)
      case "a path" => Target(s"zrecord.`$path`", path)
      case "a session table" => Target(table, managedPath(table))
    }
  }

  private def created(where: String, columns: String = "id bigint, label int, text string") = {
    val t = place(where)
    sql(s"create table ${t.name} ($columns) using zrecord")
    t
  }

  private def violation(action: => Any): Boolean =
    failure(action).contains("CHECK_CONSTRAINT_VIOLATION")

  private def onNewerSparks(name: String)(body: String => Any): Unit =
    for (where <- Seq("a name", "a path", "a session table"))
      test(s"$name ($where)") {
        if (loadsAgain) body(where)
      }

  test("a Spark without constraints says that it has none, and makes no table") {
    if (!loadsAgain)
      for (where <- Seq("a name", "a path", "a session table")) {
        val t = place(where)
        val message = failure(
          sql(s"create table ${t.name} (id bigint, constraint c check (id > 0)) using zrecord")
        )
        assert(message.contains("PARSE_SYNTAX_ERROR"), message)
        assert(!tableAt(t.path).exists())
      }
  }

  onNewerSparks("a table is created with constraints, which its manifest keeps") { where =>
    val t = place(where)
    sql(s"""create table ${t.name} (
           |  id bigint,
           |  label int unique,
           |  text string check (length(text) < 10),
           |  constraint known check (label >= 0
           |    and LABEL < 1000),
           |  constraint pk primary key (ID),
           |  constraint fk foreign key (label, text) references lake.`odd name`.labels (a, b)
           |) using zrecord""".stripMargin)
    assert(t.version == 0)
    val fields = tableAt(t.path).latest().schema()
    def id(name: String): Integer = fields.find(name).get().id()
    assert(
      t.constraint("known") ==
        Constraint.check(
          "known",
          "label >= 0     and LABEL < 1000",
          Seq(id("label")).asJava
        )
    )
    assert(t.constraint("pk") == Constraint.primaryKey("pk", Seq(id("id")).asJava))
    val foreign = t.constraint("fk")
    assert(foreign.fieldIds().asScala == Seq(id("label"), id("text")))
    assert(foreign.references().get().table() == "lake.`odd name`.labels")
    assert(foreign.references().get().columns().asScala == Seq("a", "b"))
    assert(t.constraints.map(_.kind().toString).toSet.size == 4 && t.constraints.size == 5)
    // Spark makes the columns of a primary key NOT NULL.
    assert(failure(sql(s"insert into ${t.name} values (null, 1, 'a')")).contains("NULL"))
    sql(s"insert into ${t.name} values (1, 1, 'a'), (2, null, null)")
    assert(violation(sql(s"insert into ${t.name} values (3, -1, 'a')")))
    assert(violation(sql(s"insert into ${t.name} values (3, 1, 'a text that is long')")))
    val shown = sql(s"show create table ${t.name}").head.getString(0)
    for (
      words <- Seq(
        "CONSTRAINT known CHECK (label >= 0     and LABEL < 1000) ENFORCED NORELY",
        "CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED",
        "UNIQUE (label)",
        "CONSTRAINT fk FOREIGN KEY (label, text) REFERENCES lake.`odd name`.labels (a, b)"
      )
    ) assert(shown.contains(words), shown)
    val described = sql(s"describe table extended ${t.name}").map(_.mkString(" "))
    assert(described.exists(_.startsWith("# Constraints")), described)
    assert(described.exists(_.startsWith("known CHECK (label >= 0")), described)
    assert(described.exists(_.startsWith("pk PRIMARY KEY (id) NOT ENFORCED")), described)
  }

  onNewerSparks("a table is replaced with its constraints") { where =>
    val t = created(where)
    t("add constraint old check (id > 10)")
    sql(
      s"create or replace table ${t.name} (label int, constraint c check (label > 0)) using zrecord"
    )
    assert(t.constraints.map(_.name()) == Seq("c"))
    assert(violation(sql(s"insert into ${t.name} values (0)")))
    sql(s"insert into ${t.name} values (5)")
    sql(s"replace table ${t.name} (id bigint, label int, primary key (id)) using zrecord")
    assert(t.constraints.map(_.kind()) == Seq(Constraint.Kind.PRIMARY_KEY))
    sql(s"insert into ${t.name} values (0, -1)")
    sql(s"create table if not exists ${t.name} (id bigint, check (id > 0)) using zrecord")
    assert(t.constraints.size == 1)
    val missing = place(where)
    failure(sql(s"create table ${missing.name} (id bigint, unique (other)) using zrecord"))
    assert(!tableAt(missing.path).exists())
  }

  onNewerSparks("constraints are added and dropped, a commit each") { where =>
    val t = created(where)
    sql(s"insert into ${t.name} values (1, 1, 'a'), (2, -2, 'b'), (3, null, 'c')")
    val before = t.version
    val refused = failure(t("add constraint c check (label > 0)"))
    assert(refused.contains("NEW_CHECK_CONSTRAINT_VIOLATION"), refused)
    assert(t.version == before)
    t("add constraint c check (label > -10)")
    assert(t.version == before + 1 && t.constraint("c").isEnforced)
    assert(violation(sql(s"insert into ${t.name} values (4, -10, 'd')")))
    sql(s"insert into ${t.name} values (4, -9, 'd')")
    t("add constraint u unique (text)")
    t("add constraint p primary key (id)")
    t("add constraint f foreign key (label) references lake.labels (id)")
    t("add check (id > 0)")
    assert(t.constraints.size == 5)
    for (
      (change, words) <- Seq(
        "add constraint c check (id > 0)" -> "'c' is there twice",
        "add constraint q primary key (label)" -> "has the primary key 'p'",
        "drop constraint missing" -> "no constraint 'missing'",
        "drop constraint c cascade" -> "leave CASCADE out",
        "drop column label" -> "constraint 'c'",
        "rename column label to class" -> "constraint 'c'",
        "add constraint r unique (other)" -> "no such column"
      )
    ) {
      val version = t.version
      val message = failure(t(change))
      assert(message.contains(words), s"$change: $message")
      assert(t.version == version, change)
    }
    t("drop constraint if exists missing")
    t("drop constraint C")
    t("drop constraint if exists u")
    assert(t.constraints.map(_.name()).take(2) == Seq("p", "f"))
    t("rename column label to class")
    sql(s"insert into ${t.name} values (5, -100, 'e')")
    assert(sql(s"show create table ${t.name}").head.getString(0).contains("FOREIGN KEY (class)"))
  }

  onNewerSparks("a check that Spark must not evaluate again is refused") { where =>
    val t = created(where)
    sql(s"insert into ${t.name} values (1, 1, 'a')")
    for (
      (text, words) <- Seq(
        "label > rand()" -> "NON_DETERMINISTIC",
        "label > (select 0)" -> "",
        "label in (select 1)" -> "",
        "exists (select 1)" -> "",
        "java_method('java.lang.Math', 'abs', label) = '1'" -> "java_method",
        "reflect('java.lang.Math', 'abs', label) = '1'" -> "reflect",
        "current_date() > date'2020-01-01'" -> "",
        "current_timestamp() is not null" -> "",
        "label < unix_timestamp()" -> "calls unix_timestamp",
        "uuid() is not null" -> "",
        "text != 'say \"no\"'" -> "generated code",
        "text != '\\n'" -> "generated code",
        "label" -> "",
        "missing > 0" -> "missing",
        "sum(label) > 0" -> "",
        "label >" -> "PARSE_SYNTAX_ERROR"
      )
    ) {
      val before = t.version
      val message = failure(t(s"add constraint c check ($text)"))
      assert(message.contains(words), s"$text: $message")
      assert(t.version == before, text)
      val other = place(where)
      val refused = failure(
        sql(
          s"create table ${other.name} (label int, text string, constraint c check ($text))" +
            " using zrecord"
        )
      )
      assert(refused.contains(words), s"$text: $refused")
      assert(!tableAt(other.path).exists(), text)
    }
    for (
      change <- Seq(
        "add constraint c check (id > 0) not enforced",
        "add constraint c check (id > 0) rely",
        "add constraint c unique (id) enforced",
        "add constraint c unique (id) rely",
        "add constraint c primary key (id) enforced",
        "add constraint c foreign key (id) references lake.x (id) enforced",
        "add constraint `a\"b` check (id > 0)"
      )
    ) {
      val before = t.version
      failure(t(change))
      assert(t.version == before, change)
    }
    t("add constraint ok unique (id) not enforced norely")
  }

  // Spark 4.1 and 4.2 optimize the look at the records away, and then have no plan for the rest.
  onNewerSparks("a check that no record can break is declared, or nothing is changed") { where =>
    val t = created(where, "id bigint not null, label int")
    sql(s"insert into ${t.name} values (1, 1)")
    for ((text, i) <- Seq("id is not null", "1 = 1", "id > 0 or true").zipWithIndex) {
      val before = t.version
      try t(s"add constraint c$i check ($text)")
      catch {
        case e: SparkException => assert(e.getMessage.contains("INTERNAL_ERROR"), e.getMessage)
      }
      assert(t.constraints.exists(_.name() == s"c$i") == (t.version > before), text)
    }
    assert(failure(t("add constraint no check (1 = 2)")).contains("NEW_CHECK_CONSTRAINT_VIOLATION"))
    val other = place(where)
    sql(
      s"create table ${other.name} (id bigint not null, check (id is not null), check (1 = 1))" +
        " using zrecord"
    )
    sql(s"insert into ${other.name} values (1)")
    assert(other.constraints.size == 2)
    assert(failure(sql(s"insert into ${other.name} values (null)")).contains("NULL"))
  }

  onNewerSparks("a check conflicts with records that came while it was validated") { where =>
    val t = created(where)
    val catalog: TableCatalog = new ZRecordCatalog
    catalog.initialize("lake", new CaseInsensitiveStringMap(Map("warehouse" -> warehouse).asJava))
    val identifier =
      Identifier.of(Array(), if (where == "a name") t.name.stripPrefix("lake.") else t.path)
    def versionNow: String = {
      val table = catalog.loadTable(identifier)
      table.getClass.getMethod("version").invoke(table).asInstanceOf[String]
    }
    val checks = Class.forName("org.apache.spark.sql.connector.catalog.constraints.Constraint")
    def addition(name: String, version: String): TableChange = {
      val builder = checks.getMethod("check", classOf[String]).invoke(null, name)
      builder.getClass.getMethod("predicateSql", classOf[String]).invoke(builder, "label > 0")
      val check = builder.getClass.getMethods
        .find(method => method.getName == "build" && method.getReturnType != classOf[Object])
        .get
        .invoke(builder)
      classOf[TableChange]
        .getMethod("addConstraint", checks, classOf[String])
        .invoke(null, check, version)
        .asInstanceOf[TableChange]
    }
    val old = versionNow
    sql(s"insert into ${t.name} values (1, 1, 'a')")
    val message = failure(catalog.alterTable(identifier, addition("c", old)))
    assert(message.contains("ZRECORD_COMMIT_CONFLICT") && message.contains("run the statement"))
    assert(failure(catalog.alterTable(identifier, addition("c", null))).contains("older version"))
    val validated = versionNow
    // A commit that is about no records is no obstacle.
    t("set tblproperties ('a' = '1')")
    catalog.alterTable(identifier, addition("c", validated))
    assert(t.constraints.map(_.name()) == Seq("c"))
  }

  onNewerSparks("other writers are refused from then on") { where =>
    val t = created(where)
    t("add constraint c check (label > 0)")
    val table = tableAt(t.path)
    val message = failure(
      EngineWriter.append(table.storage(), table.latest().schema(), WriteOptions.defaults()).close()
    )
    assert(message.contains("constraint 'c'"), message)
    t("drop constraint c")
    EngineWriter.append(table.storage(), table.latest().schema(), WriteOptions.defaults()).close()
  }

  test("the session's catalog refuses constraints of other sources, which would forget them") {
    if (loadsAgain) {
      val table = freshTable()
      val refused = failure(
        sql(s"create table $table (id bigint, constraint c check (id > 0)) using parquet")
      )
      assert(refused.toLowerCase.contains("constraint"), refused)
      assert(!spark.catalog.tableExists(table))
    }
  }
}
