package io.zrecord.spark

import org.apache.spark.sql.Row

/** The declaration of a table applies to every insert, whichever catalog keeps the table. */
abstract class Declarations extends SparkSuite {
  private val names =
    Iterator.from(1).map(n => s"declared_${getClass.getSimpleName}_$n".toLowerCase)

  protected def isSupported: Boolean

  protected def isSpark3: Boolean = spark.version.startsWith("3.")

  protected def declared(name: String)(body: => Unit): Unit =
    test(name) {
      assume(isSupported)
      body
    }

  protected def created(columns: String, path: String = freshPath()): String = {
    val name = freshTable()
    spark.sql(s"create table $name $columns using zrecord location '$path'")
    name
  }

  private def refusesNull(write: => Any): Boolean = {
    val message = failure(write)
    assert(isRefusalOfNull(message, "v"), message)
    true
  }

  protected def all(name: String): Seq[Row] = spark.table(name).orderBy("id").collect().toSeq

  declared("a default holds for every insert") {
    val name = created("(id int, v int default 42)")
    val isFilled = !isSpark3 && !spark.version.startsWith("4.0")
    for (id <- 1 to 2) spark.sql(s"insert into $name values ($id, default)")
    for (id <- 3 to 4) {
      // Before 4.1, Spark fills no columns in writes of such sources, and says so.
      if (!isFilled)
        assert(failure(spark.sql(s"insert into $name (id) values ($id)")).contains("`v`"))
      else spark.sql(s"insert into $name (id) values ($id)")
    }
    assert(all(name) == (1 to (if (isFilled) 4 else 2)).map(id => Row(id, 42)))
  }

  declared("NOT NULL holds for every insert, and for the first") {
    val name = created("(id int, v int not null)")
    assert(refusesNull(spark.sql(s"insert into $name values (1, null)")))
    spark.sql(s"insert into $name values (1, 1)")
    for (values <- Seq("(2, null)", "(2, nullif(2, id))")) {
      val source = s"select * from values (2, cast(null as int)) as s(id, v)"
      assert(refusesNull(spark.sql(s"insert into $name $source")), values)
    }
    assert(refusesNull(spark.sql(s"insert overwrite $name values (5, null)")))
    assert(all(name) == Seq(Row(1, 1)))
  }

  declared("nulls that a write by path adds are read as nulls") {
    val path = freshPath()
    val name = created("(id int, v int not null)", path)
    spark.sql(s"insert into $name values (1, 1)")
    write(spark.sql("select 2 id, cast(null as int) v"), path, "append")
    assert(all(name) == Seq(Row(1, 1), Row(2, null)))
    assert(spark.table(name).where("v is null").count() == 1)
    assert(spark.table(name).selectExpr("count(v)").head().getLong(0) == 1)
  }

  declared("the lengths of CHAR and VARCHAR hold for every insert") {
    val name = created("(id int, v varchar(3), c char(4))")
    for (id <- 1 to 2) {
      spark.sql(s"insert into $name values ($id, 'abc', 'x')")
      assert(
        failure(spark.sql(s"insert into $name values (9, 'abcd', 'x')")).toLowerCase
          .contains("exceeds")
      )
      assert(
        failure(spark.sql(s"insert into $name values (9, 'a', 'xxxxx')")).toLowerCase
          .contains("exceeds")
      )
    }
    assert(all(name) == Seq(Row(1, "abc", "x   "), Row(2, "abc", "x   ")))
  }

  declared("comments are kept when there are data") {
    val name = created("(id int comment 'the key')")
    spark.sql(s"insert into $name values (1)")
    assert(
      spark.sql(s"describe table $name").where("col_name = 'id'").head().getString(2) == "the key"
    )
  }

  declared("a string with a collation is refused") {
    assume(!isSpark3)
    val path = freshPath()
    val message = failure {
      val name = created("(id int, s string collate UNICODE_CI)", path)
      spark.sql(s"insert into $name values (1, 'a')")
    }
    assert(message.contains("UNICODE_CI"), message)
    val direct = failure(
      write(spark.sql("select 1 id, 'a' collate UNICODE_CI s"), freshPath(), "append")
    )
    assert(direct.contains("UNICODE_CI"), direct)
  }

  declared("columns of the dataset that were not declared are there") {
    val path = freshPath()
    val name = created("(id int default 7)", path)
    spark.sql(s"insert into $name values (1)")
    write(
      spark.sql("select 2 id, 'x' text"),
      path,
      "append",
      "mergeSchema" -> "true"
    )
    assert(all(name) == Seq(Row(1, null), Row(2, "x")))
  }

  declared("a table whose dataset has other columns is described, altered, mended and dropped") {
    val path = freshPath()
    val name = created("(id int, v int)", path)
    spark.sql(s"insert into $name values (1, 1)")
    write(spark.sql("select 'x' text"), path, "overwrite")
    for (
      statement <- Seq(
        s"select * from $name",
        s"select count(*) from $name",
        s"insert into $name values (2, 2)"
      )
    ) {
      val message = failure(spark.sql(statement).collect())
      assert(message.contains("mergeSchema=true") && message.contains("declared"), message)
    }
    assert(spark.sql(s"describe table extended $name").where("col_name = 'id'").count() == 1)
    spark.sql(s"show create table $name").collect()
    spark.sql(s"alter table $name set tblproperties ('a' = '1')")
    write(
      spark.sql("select 1 id, 1 v limit 0"),
      path,
      "append",
      "mergeSchema" -> "true"
    )
    assert(
      spark.table(name).selectExpr("text", "id", "v").collect().toSeq == Seq(Row("x", null, null))
    )
    write(spark.sql("select 'y' text"), path, "overwrite")
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
    assert(read(path).collect().toSeq == Seq(Row("y")))
  }

  declared("a table whose newest manifest is damaged is described, altered and dropped") {
    val path = freshPath()
    val name = created("(id int)", path)
    spark.sql(s"insert into $name values (1)")
    val files = filesOf(path)
    val newest = files.names.find(_.endsWith("00.json")).get
    files.change(newest)(_ => "{ hello".getBytes("UTF-8"))
    val manifest = files.storage.pathOf(newest)
    assert(failure(spark.table(name).collect()).contains(manifest))
    assert(
      failure(spark.sql(s"insert into $name values (2)")).contains(manifest)
    )
    assert(spark.sql(s"describe table $name").where("col_name = 'id'").count() == 1)
    spark.sql(s"alter table $name set tblproperties ('a' = '1')")
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
    assert(files.names.contains(newest))
  }
}

/** Tables where ZRecordSessionCatalog is set. */
class DeclarationSuite extends Declarations {
  override protected def configuration: Map[String, String] =
    Map("spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog")

  override protected def isSupported: Boolean = true

  for (how <- Seq("create", "create or replace"))
    test(s"defaults of a table of the session catalog change with its entry, made by $how") {
      val t = freshTable()
      spark.sql(
        s"$how table $t (id int, label int default 5, day date default current_date()," +
          " n int default 1 + 1) using zrecord"
      )
      spark.sql(s"insert into $t values (1, default, default, default)")
      spark.sql(s"alter table $t alter column label drop default")
      spark.sql(s"insert into $t values (2, default, default, default)")
      spark.sql(s"alter table $t alter column label set default 9")
      spark.sql(s"insert into $t values (3, default, default, default)")
      val found = spark.sql(s"select label, n, day is not null from $t order by id").collect().toSeq
      assert(found == Seq(Row(5, 2, true), Row(null, 2, true), Row(9, 2, true)))
    }

  test("older versions have the declared columns as well") {
    val path = freshPath()
    val name = created("(id int comment 'the key', c char(4), v varchar(3))", path)
    spark.sql(s"insert into $name values (1, 'x', 'a')")
    write(spark.sql("select 2 id, 'y' c, 'b' v"), path, "append")
    write(spark.sql("select 3 id, 'z' c, 'c' v"), path, "append")
    val wanted = Seq(Row(1, "x   ", "a"), Row(2, "y   ", "b"))
    for (version <- Seq("version as of 1", "version as of 'latest'", "timestamp as of now()")) {
      val read = spark.sql(s"select * from $name $version where id < 3 order by id")
      assert(read.collect().toSeq == wanted, version)
      val found = spark.sql(s"select id from $name $version where c = 'y'")
      assert(found.collect().toSeq == Seq(Row(2)), version)
      assert(read.schema("id").getComment().contains("the key"), version)
    }
    assert(spark.sql(s"select * from $name version as of 0").count() == 1)
  }

  test("an older version that does not fit the declaration has its own columns") {
    val path = freshPath()
    write(spark.sql("select 1L id, 7 v"), path, "append")
    write(spark.sql("select 'a' c, 1L id"), path, "overwrite")
    write(spark.sql("select 'b' c, 2L id, 'w' v"), path, "append", "mergeSchema" -> "true")
    val name = created("(c char(4), id bigint, v varchar(3))", path)
    def at(version: Int): Seq[Row] =
      spark.sql(s"select * from $name version as of $version order by id").collect().toSeq
    assert(at(0) == Seq(Row(1L, 7)))
    assert(at(1) == Seq(Row("a   ", 1L)))
    assert(at(2) == Seq(Row("a   ", 1L, null), Row("b   ", 2L, "w")))
    assert(failure(spark.sql(s"select v from $name version as of 1")).contains("`v`"))
    assert(failure(at(3)).contains("version 3"))
    write(spark.sql("select 1 other"), path, "overwrite")
    assert(failure(spark.table(name).collect()).contains("declared"))
    assert(at(2).length == 2)
  }

  declared("DESCRIBE and SHOW CREATE TABLE say what was declared, before and after an insert") {
    val columns =
      "(id bigint comment 'key', v int default 5, c char(4), w varchar(4) comment 'w', s string)"
    def described(name: String) =
      spark.sql(s"describe $name").collect().map(_.toSeq.mkString(" ")).toSeq
    val name = created(columns)
    val before = described(name)
    for (shown <- Seq("id bigint key", "c char(4)", "w varchar(4) w"))
      assert(before.exists(_.startsWith(shown)), before)
    for (isFilled <- Seq(false, true)) {
      if (isFilled) spark.sql(s"insert into $name values (1, default, 'a', 'b', 'c')")
      assert(described(name) == before)
      val extended = described(s"extended $name").dropWhile(!_.startsWith("# Column Default"))
      assert(extended.exists(_ == "v int 5"), described(s"extended $name"))
      val shown = spark.sql(s"show create table $name").head().getString(0)
      val copy = freshTable()
      val ddl = shown
        .replaceFirst("(?s)CREATE TABLE [^(]*\\(", s"create table $copy (")
        .replaceFirst("LOCATION '[^']*'", s"location '${freshPath()}'")
      spark.sql(ddl)
      // Spark 4.2 writes the collation out that a string has without one.
      assert(described(copy).map(_.replace(" collate UTF8_BINARY", "")) == before, ddl)
      spark.sql(s"insert into $copy values (2, default, 'a', 'b', 'c')")
      assert(all(copy) == Seq(Row(2L, 5, "a   ", "b", "c")))
    }
    assert(all(name) == Seq(Row(1L, 5, "a   ", "b", "c")))
    assert(
      failure(spark.sql(s"insert into $name values (1, 1, 'aaaaa', 'b', 'c')")).toLowerCase
        .contains("length")
    )
  }

  test("an insert that leaves out a column that is NOT NULL is refused before its tasks") {
    val name = created("(id int, v int not null)")
    for (_ <- 1 to 2) {
      val message = failure(spark.sql(s"insert into $name (id) values (2)"))
      assert(message.contains("`v`") || isRefusalOfNull(message, "v"), message)
      assert(!message.contains("Task"), message)
      spark.sql(s"insert into $name values (1, 1)")
    }
    assert(spark.table(name).count() == 2)
  }

  test("a table of a type that is not stored is refused") {
    val message = failure(created("(i interval day to second)"))
    assert(message.contains("interval day to second"), message)
  }
}

/** Tables where Spark's own session catalog keeps them, as it does since Spark 4. */
class UnstagedDeclarationSuite extends Declarations {
  override protected def isSupported: Boolean = !isSpark3

  test("another LOCATION than the path that names a table is refused, and the same one is not") {
    val path = freshPath()
    val other = freshPath()
    assert(
      failure(
        spark.sql(s"create table zrecord.`$path` (id int) location '$other'")
      ).contains("leave LOCATION out")
    )
    assert(
      failure(
        spark.sql(s"create table zrecord.`$path` location '$other' as select 1 id")
      ).contains("leave LOCATION out")
    )
    assert(filesOf(path).names.isEmpty && filesOf(other).names.isEmpty)
    spark.sql(s"create table zrecord.`$path` location '$path' as select 1 id")
    assert(read(path).count() == 1)
  }

  test("what a path cannot keep is refused") {
    for (
      (columns, suffix, hint) <- Seq(
        ("(id int)", "tblproperties ('write.a' = '1')", "property"),
        ("(id varchar(3))", "", "varchar(3)"),
        ("(id char(3))", "", "char(3)")
      )
    ) {
      val path = freshPath()
      val message = failure(spark.sql(s"create table zrecord.`$path` $columns $suffix"))
      assert(message.contains(hint), s"$columns $suffix: $message")
      assert(filesOf(path).names.isEmpty)
    }
  }
}
