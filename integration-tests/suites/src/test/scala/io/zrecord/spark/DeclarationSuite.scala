package io.zrecord.spark

import org.apache.spark.sql.Row

/** What a table of the session's catalog declares applies to every insert. */
class DeclarationSuite extends SessionTablesSuite {
  private def isSpark3: Boolean = spark.version.startsWith("3.")

  private def created(columns: String, path: String = freshPath()): String = {
    val name = freshTable()
    spark.sql(s"create table $name $columns using zrecord location '$path'")
    name
  }

  private def refusesNull(write: => Any): Boolean = {
    val message = failure(write)
    assert(isRefusalOfNull(message, "v"), message)
    true
  }

  private def all(name: String): Seq[Row] = spark.table(name).orderBy("id").collect().toSeq

  test("a default holds for every insert") {
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

  test("NOT NULL holds for every insert, and for the first") {
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

  test("a write by path obeys what the table declares") {
    val path = freshPath()
    val name = created("(id int, v int not null, c char(4), w varchar(3))", path)
    spark.sql(s"insert into $name values (1, 1, 'a', 'b')")
    val row = "select 2 id, 2 v, 'abcd' c, 'abc' w"
    for (
      (broken, words) <- Seq(
        ("cast(null as int) v", "NOT NULL"),
        ("'abcde' c", "at most 4"),
        ("'abcd' w", "at most 3")
      )
    ) {
      val column = broken.split(' ').last
      val select = row.replaceFirst(s"[^ ,]+ $column\\b", broken)
      val message = failure(write(spark.sql(select), path, "append"))
      assert(message.contains(words), s"$select: $message")
    }
    write(spark.sql(row), path, "append")
    assert(all(name) == Seq(Row(1, 1, "a   ", "b"), Row(2, 2, "abcd", "abc")))
    assert(read(path).orderBy("id").collect().toSeq == all(name))
  }

  test("the lengths of CHAR and VARCHAR hold for every insert") {
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

  test("comments are kept when there are data") {
    val name = created("(id int comment 'the key')")
    spark.sql(s"insert into $name values (1)")
    assert(
      spark.sql(s"describe table $name").where("col_name = 'id'").head().getString(2) == "the key"
    )
  }

  test("a string with a collation is refused") {
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

  test("columns of the dataset that were not declared are there") {
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

  test("a table has the columns that its dataset gets by other ways") {
    val path = freshPath()
    val name = created("(id int, v int)", path)
    spark.sql(s"insert into $name values (1, 1)")
    write(spark.sql("select 'x' text"), path, "overwrite", "overwriteSchema" -> "true")
    assert(spark.table(name).collect().toSeq == Seq(Row("x")))
    spark.sql(s"alter table $name set tblproperties ('a' = '1')")
    spark.sql(s"insert into $name values ('y')")
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
    assert(read(path).count() == 2)
  }

  test("a table whose newest manifest is damaged says so, and is dropped") {
    val path = freshPath()
    val name = created("(id int)", path)
    spark.sql(s"insert into $name values (1)")
    val files = filesOf(path)
    val before = files.names
    spark.sql(s"insert into $name values (2)")
    val newest = (files.names -- before).find(_.startsWith("manifest/")).get
    files.change(newest)(_ => "{ hello".getBytes("UTF-8"))
    val manifest = files.storage.pathOf(newest)
    for (
      statement <- Seq(
        s"select * from $name",
        s"insert into $name values (2)",
        s"alter table $name set tblproperties ('a' = '1')"
      )
    ) assert(failure(spark.sql(statement).collect()).contains(manifest), statement)
    assert(spark.sql(s"describe table $name").where("col_name = 'id'").count() == 1)
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
    assert(files.names.contains(newest))
  }

  for (how <- Seq("create", "create or replace"))
    test(s"defaults of a table of the session catalog change by ALTER, made by $how") {
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

  test("older versions have the columns that were declared then") {
    val path = freshPath()
    val name = created("(id int comment 'the key', c char(4), v varchar(3))", path)
    spark.sql(s"insert into $name values (1, 'x', 'a')")
    write(spark.sql("select 2 id, 'y' c, 'b' v"), path, "append")
    spark.sql(s"alter table $name alter column c type varchar(9)")
    spark.sql(s"insert into $name values (3, 'longer', 'c')")
    for (version <- Seq("version as of 2", "version as of 3")) {
      val read = spark.sql(s"select * from $name $version order by id")
      assert(read.collect().toSeq == Seq(Row(1, "x   ", "a"), Row(2, "y   ", "b")), version)
      assert(read.schema("id").getComment().contains("the key"), version)
    }
    assert(spark.sql(s"select id from $name version as of 2 where c = 'y'").head() == Row(2))
    assert(spark.sql(s"select * from $name version as of 1").count() == 1)
    assert(failure(spark.sql(s"select * from $name version as of 9")).contains("version 9"))
    spark.sql(s"alter table $name alter column v type string")
    spark.sql(s"insert into $name values (4, 'x', 'any length')")
    val message = failure(spark.sql(s"alter table $name alter column c type varchar(3)"))
    assert(message.toLowerCase.contains("varchar(3)"), message)
  }

  test("a session that takes texts with a length for strings declares strings") {
    val setting = "spark.sql.legacy.charVarcharAsString"
    spark.conf.set(setting, "true")
    try {
      val name = created("(id int, c char(4), w varchar(2))")
      spark.sql(s"alter table $name add columns (d char(3))")
      spark.sql(s"insert into $name values (1, 'x', 'longer', 'y')")
      spark.conf.set(setting, "false")
      assert(all(name) == Seq(Row(1, "x", "longer", "y")))
      assert(spark.sql(s"select id from $name where c = 'x' and d = 'y'").count() == 1)
      assert(spark.sql(s"show create table $name").head().getString(0).contains("c STRING"))
    } finally spark.conf.unset(setting)
  }

  test("what a statement says of a dataset that is there must be what the dataset declares") {
    val path = freshPath()
    spark.sql(
      s"create table zrecord.`$path` (id bigint not null comment 'key', v int default 5," +
        " c char(4)) comment 'of somebody' tblproperties ('team' = 'a')"
    )
    for (
      clause <- Seq(
        "(id bigint not null comment 'key', v int default 5, c char(4)) %" +
          " comment 'of somebody' tblproperties ('team' = 'a')",
        "(id bigint, v int) %",
        "%"
      )
    ) {
      val name = freshTable()
      val place = s"using zrecord location '$path'"
      spark.sql(s"create table $name ${clause.replace("%", place)}")
      assert(failure(spark.sql(s"insert into $name values (null, 1, 'a')")).contains("id"))
      assert(spark.table(name).isEmpty)
    }
    for (
      (clause, words) <- Seq(
        ("(v int not null) %", "NOT NULL for the column 'v'"),
        ("(v int comment 'x') %", "a comment for the column 'v'"),
        ("(v int default 6) %", "a default for the column 'v'"),
        ("(c varchar(4)) %", "varchar(4) for the column 'c'"),
        ("% comment 'mine'", "a comment"),
        ("% tblproperties ('team' = 'b')", "the property 'team'")
      )
    ) {
      val name = freshTable()
      val place = s"using zrecord location '$path'"
      val message = failure(spark.sql(s"create table $name ${clause.replace("%", place)}"))
      assert(message.contains(words), s"$clause: $message")
      assert(!spark.catalog.tableExists(name))
    }
  }

  test("DESCRIBE and SHOW CREATE TABLE say what was declared, before and after an insert") {
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
class UnstagedDeclarationSuite extends SparkSuite {
  private val Remedy = "spark.sql.catalog.spark_catalog=io.zrecord.spark.ZRecordSessionCatalog"

  test("no statement declares columns, because no dataset would keep them") {
    val path = freshPath()
    for (place <- Seq("", s" location '$path'")) {
      val name = freshTable()
      val message = failure(spark.sql(s"create table $name (id int not null) using zrecord$place"))
      assert(message.contains(Remedy), message)
      assert(!spark.catalog.tableExists(name))
    }
    assert(filesOf(path).names.isEmpty)
  }

  test("a table is what its dataset declares, and no statement changes the entry alone") {
    assume(!spark.version.startsWith("3."), "Spark 3.5 keeps no such tables without the catalog")
    val path = freshPath()
    spark.sql(
      s"create table zrecord.`$path` (id int not null comment 'key', c char(4), v int default 5)"
    )
    val name = freshTable()
    spark.sql(s"create table $name using zrecord location '$path'")
    assert(isRefusalOfNull(failure(spark.sql(s"insert into $name values (null, 'a', 1)")), "id"))
    spark.sql(s"insert into $name values (1, 'a', default)")
    assert(spark.table(name).collect().toSeq == Seq(Row(1, "a   ", 5)))
    for (
      change <- Seq(
        "add column more int",
        "drop column v",
        "rename column v to w",
        "alter column id comment 'x'",
        "alter column v set default 6",
        "set tblproperties ('a' = '1')",
        "unset tblproperties if exists ('a')"
      )
    ) {
      val message = failure(spark.sql(s"alter table $name $change"))
      assert(message.contains(Remedy), s"$change: $message")
    }
    assert(failure(spark.sql(s"comment on table $name is 'x'")).contains(Remedy))
    spark.sql(s"alter table zrecord.`$path` add column more int default 3")
    spark.catalog.refreshTable(name)
    spark.sql(s"insert into $name values (2, 'b', 6, 7)")
    val rows = spark.table(name).orderBy("id").collect().toSeq
    assert(rows == Seq(Row(1, "a   ", 5, 3), Row(2, "b   ", 6, 7)))
    spark.sql(s"drop table $name")
    assert(read(path).count() == 2)
  }

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
        ("(id array<varchar(3)>)", "", "varchar(3)"),
        ("(id struct<a: char(3), b: int>)", "", "char(3)")
      )
    ) {
      val path = freshPath()
      val message = failure(spark.sql(s"create table zrecord.`$path` $columns $suffix"))
      assert(message.contains(hint), s"$columns $suffix: $message")
      assert(filesOf(path).names.isEmpty)
    }
  }
}
