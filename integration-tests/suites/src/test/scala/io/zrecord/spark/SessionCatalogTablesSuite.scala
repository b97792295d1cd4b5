package io.zrecord.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import org.apache.spark.sql.{DataFrame, Row}

/** Statements and writers before tables of the session catalog. */
class SessionCatalogTablesSuite extends SessionTablesSuite with StreamTables {
  test("a managed table is created, filled and dropped with its files") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint, name string) using zrecord")
    assert(spark.table(name).collect().isEmpty)
    spark.sql(s"insert into $name values (1, 'a'), (2, 'b')")
    spark.sql(s"insert into $name (name, id) values ('c', 3)")
    assert(ids(name) == Seq(1, 2, 3))
    val path = locationOf(name)
    assert(manifests(path) == 3)
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
    assert(filesOf(path).names.isEmpty)
  }

  test("insert overwrite replaces the rows, and insertInto appends by position") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint) using zrecord")
    spark.sql(s"insert into $name values (1), (2)")
    spark.sql(s"insert overwrite $name values (3)")
    assert(ids(name) == Seq(3))
    spark.range(7, 9).toDF("other").write.insertInto(name)
    assert(ids(name) == Seq(3, 7, 8))
  }

  test("an external table has the columns of its dataset, and dropping it keeps the files") {
    val path = dataset(5)
    for (
      clause <- Seq(s"using zrecord location '$path'", s"using zrecord options (path '$path')")
    ) {
      val name = freshTable()
      spark.sql(s"create table $name $clause")
      assert(spark.table(name).columns.toSeq == Seq("id"))
      assert(ids(name) == Seq(0, 1, 2, 3, 4))
      spark.sql(s"drop table $name")
      assert(read(path).count() == 5)
    }
  }

  test("a table without columns and without a dataset is refused") {
    val name = freshTable()
    assert(failure(spark.sql(s"create table $name using zrecord")).contains("declare columns"))
    assert(!spark.catalog.tableExists(name))
  }

  test("a declaration that the dataset does not fit is refused when the table is created") {
    val path = dataset(5)
    val name = freshTable()
    val message =
      failure(spark.sql(s"create table $name (id string) using zrecord location '$path'"))
    assert(message.contains("declared"), message)
    assert(!spark.catalog.tableExists(name))
  }

  test("saveAsTable in every mode") {
    val name = freshTable()
    def save(mode: String, from: Long, to: Long): Unit =
      spark.range(from, to).write.format("zrecord").mode(mode).saveAsTable(name)
    save("errorifexists", 0, 2)
    assert(ids(name) == Seq(0, 1))
    assert(failure(save("errorifexists", 0, 9)).contains("already exists"))
    save("ignore", 0, 9)
    assert(ids(name) == Seq(0, 1))
    save("append", 2, 4)
    assert(ids(name) == Seq(0, 1, 2, 3))
    save("overwrite", 7, 9)
    assert(ids(name) == Seq(7, 8))
    assert(manifests(locationOf(name)) == 3)
    spark
      .table(name)
      .where("id > 7")
      .write
      .format("zrecord")
      .mode("overwrite")
      .saveAsTable(name)
    assert(ids(name) == Seq(8))
  }

  test("writeTo creates, appends, overwrites and replaces") {
    val name = freshTable()
    spark.range(2).writeTo(name).using("zrecord").create()
    assert(failure(spark.range(2).writeTo(name).using("zrecord").create()).contains("exists"))
    spark.range(2, 4).writeTo(name).append()
    assert(ids(name) == Seq(0, 1, 2, 3))
    spark.range(5, 6).writeTo(name).overwrite(org.apache.spark.sql.functions.lit(true))
    assert(ids(name) == Seq(5))
    spark.range(6, 8).writeTo(name).using("zrecord").replace()
    assert(ids(name) == Seq(6, 7))
    spark.range(3).selectExpr("id", "'x' text").writeTo(name).using("zrecord").createOrReplace()
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    assert(ids(name) == Seq(0, 1, 2))
  }

  test("OPTIONS of a table are options of its writes, and unknown ones are refused") {
    val name = freshTable()
    assert(
      failure(
        spark.sql(s"create table $name (text string) using zrecord options (compresion 'zstd')")
      ).contains("compression")
    )
    spark.sql(s"create table $name (text string) using zrecord options (compression 'zstd')")
    spark.sql(s"insert into $name select repeat('a', 100000) from range(100)")
    spark.sql(s"insert into $name select repeat('b', 100000) from range(100)")
    assert(filesBelow(locationOf(name)).map(_.toFile.length()).sum < 1000000)
  }

  test("OPTIONS of a table are none of one write, which would drop later writes") {
    for (options <- Seq("txnAppId 'nightly', txnVersion '1'", "expectedVersion '0'")) {
      val name = freshTable()
      for (
        statement <- Seq(
          s"create table $name (id bigint) using zrecord options ($options)",
          s"create table $name using zrecord options ($options) as select id from range(3)"
        )
      ) {
        val message = failure(spark.sql(statement))
        assert(message.contains("is of one write"), message)
      }
      assert(!spark.catalog.tableExists(name))
    }
    val name = freshTable()
    spark.sql(s"create table $name using zrecord as select id from range(3)")
    for (_ <- 1 to 2)
      spark
        .range(2)
        .writeTo(name)
        .option("txnAppId", "nightly")
        .option("txnVersion", "1")
        .append()
    spark.sql(s"insert into $name select id from range(4)")
    assert(spark.table(name).count() == 3 + 2 + 4)
  }

  /** Rows of a query that meanwhile creates another table, so that it cannot create its own. */
  test("a table is renamed with its files") {
    for (create <- Seq("as select id from range(3)", "(id bigint)")) {
      val name = freshTable()
      val renamed = freshTable()
      if (create.startsWith("as")) spark.sql(s"create table $name using zrecord $create")
      else {
        spark.sql(s"create table $name $create using zrecord")
        spark.sql(s"insert into $name values (0), (1), (2)")
      }
      spark.sql(s"alter table $name rename to $renamed")
      assert(!spark.catalog.tableExists(name))
      assert(ids(renamed) == Seq(0, 1, 2))
      spark.sql(s"insert into $renamed values (3)")
      assert(ids(renamed) == Seq(0, 1, 2, 3))
    }
  }

  test("properties and comments are altered") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint) using zrecord tblproperties ('a' = '1')")
    spark.sql(s"insert into $name values (1)")
    spark.sql(s"alter table $name set tblproperties ('b' = '2')")
    spark.sql(s"alter table $name unset tblproperties ('a')")
    spark.sql(s"comment on table $name is 'numbers'")
    spark.sql(s"alter table $name alter column id comment 'an id'")
    val properties =
      spark.sql(s"show tblproperties $name").collect().map(r => r.getString(0) -> r.getString(1))
    assert(properties.contains("b" -> "2") && !properties.exists(_._1 == "a"))
    assert(detail(name, "Comment") == Seq("numbers"))
    assert(
      spark.sql(s"describe table $name").where("col_name = 'id'").head().getString(2) == "an id"
    )
    assert(ids(name) == Seq(1))
  }

  test("columns are changed before there are records and afterwards") {
    val name = freshTable()
    spark.sql(s"create table $name (id int) using zrecord")
    spark.sql(s"alter table $name add columns (text string)")
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    spark.sql(s"insert into $name values (1, 'a')")
    for (
      change <- Seq(
        "add columns (more int default 3)",
        "rename column text to words",
        "alter column id type bigint",
        "drop column more"
      )
    ) spark.sql(s"alter table $name $change")
    assert(spark.table(name).columns.toSeq == Seq("id", "words"))
    assert(spark.table(name).collect().toSeq == Seq(Row(1L, "a")))
  }

  test("the entry has a copy of the columns, for other programs, and no properties of its own") {
    val name = freshTable()
    spark.sql(s"create table $name (id bigint, v char(3)) using zrecord tblproperties ('a' = '1')")
    spark.sql(s"alter table $name add column more int")
    val entry = spark.sessionState.catalog.getTableMetadata(
      org.apache.spark.sql.catalyst.TableIdentifier(name)
    )
    assert(entry.schema.fieldNames.toSeq == Seq("id", "v", "more"))
    assert(!entry.properties.contains("a"), entry.properties)
    // What another program changes there has no effect.
    spark.sessionState.catalog.externalCatalog
      .alterTableDataSchema("default", name, spark.range(1).toDF("other").schema)
    spark.catalog.refreshTable(name)
    assert(spark.table(name).columns.toSeq == Seq("id", "v", "more"))
    spark.sql(s"insert into $name values (1, 'a', 2)")
    assert(spark.table(name).collect().toSeq == Seq(Row(1L, "a  ", 2)))
  }

  test("a table whose files are gone says so, and is dropped") {
    val (name, path) = (freshTable(), freshPath())
    spark.sql(s"create table $name (id bigint) using zrecord location '$path'")
    filesOf(path).names.foreach(file => filesOf(path).delete(file))
    for (
      statement <- Seq(
        s"select * from $name",
        s"insert into $name values (1)",
        s"update $name set id = 2",
        s"truncate table $name",
        s"alter table $name add column more int",
        s"alter table $name set tblproperties ('a' = '1')",
        s"comment on table $name is 'x'"
      )
    ) {
      val message = failure(spark.sql(statement).collect())
      assert(message.contains(path) && message.contains("there is no dataset"), message)
    }
    assert(detail(name, "Location").map(_.replaceFirst("^file:/*", "/")) == Seq(path))
    val other = dataset(3)
    val (gone, managed) = (freshPath(), freshTable())
    spark.sql(s"create table $managed (id bigint) using zrecord")
    for (table <- Seq(name, managed)) {
      val message = failure(spark.sql(s"alter table $table set location '$gone'"))
      assert(message.contains(gone) && message.contains("no dataset"), message)
    }
    assert(filesOf(path).names.isEmpty)
    spark.sql(s"alter table $name set location '$other'")
    assert(ids(name) == Seq(0, 1, 2))
    filesOf(other).names.foreach(file => filesOf(other).delete(file))
    spark.sql(s"drop table $name")
    assert(!spark.catalog.tableExists(name))
  }

  test("texts with a length are stored in one form, whoever writes them") {
    val (name, path) = (freshTable(), freshPath())
    spark.sql(
      s"create table $name (id bigint, p char(3), v varchar(3)) using zrecord" +
        s" partitioned by (p) location '$path'"
    )
    write(spark.sql("select 1L id, 'ab' p, 'abc  ' v"), path, "append")
    spark.sql(s"insert into $name values (2, 'ab', 'abc  ')")
    assert(tableAt(path).latest().shards().asScala.map(_.partition()).toSet.size == 1)
    assert(spark.sql(s"select * from $name where p = 'ab' and v = 'abc'").count() == 2)
    assert(
      failure(write(spark.sql("select 1L id, 'abcd' p, 'a' v"), path, "append"))
        .contains("at most 3")
    )
    setting("spark.sql.sources.partitionOverwriteMode" -> "dynamic")(
      spark.sql(s"insert overwrite $name values (3, 'ab', 'x')")
    )
    assert(ids(name) == Seq(3))
  }

  test("records with texts of a length are changed; Spark 3.5 deletes none of a table with CHAR") {
    for (kind <- Seq("char(3)", "varchar(3)")) {
      val name = freshTable()
      spark.sql(s"create table $name (id bigint, c $kind) using zrecord")
      spark.sql(s"insert into $name values (1, 'a'), (2, 'b'), (3, 'c')")
      spark.sql(s"update $name set c = 'z' where c = 'a'")
      spark.sql(
        s"""merge into $name t using (select 'b' c) s on trim(t.c) = s.c
           |when matched then update set id = 20""".stripMargin
      )
      def found = spark.sql(s"select id, trim(c) from $name order by id").collect().toSeq
      assert(found == Seq(Row(1L, "z"), Row(3L, "c"), Row(20L, "b")), kind)
      def delete() = spark.sql(s"delete from $name where c = 'c'")
      if (kind.startsWith("char") && spark.version.startsWith("3.")) {
        // Spark pads the columns of the target before it plans the statement, of any source.
        assert(failure(delete()).contains("Unexpected table relation"))
        assert(found.size == 3)
      } else {
        delete()
        assert(found == Seq(Row(1L, "z"), Row(20L, "b")), kind)
      }
    }
  }

  test("texts with a length are compared as Spark pads them") {
    val (name, path) = (freshTable(), freshPath())
    spark.sql(
      s"create table $name (id bigint, c char(5), v varchar(5)) using zrecord location '$path'"
    )
    spark.sql(s"insert into $name values (0, 'a', 'a'), (1, 'a  ', 'a  '), (2, null, null)")
    write(spark.sql("select 3L id, 'a' c, 'a' v"), path, "append")
    for (padding <- Seq("true", "false")) {
      spark.conf.set("spark.sql.readSideCharPadding", padding)
      try {
        def found(condition: String) =
          spark.table(name).where(condition).collect().map(_.getLong(0)).toSet
        assert(found("c = 'a'") == Set(0L, 1L, 3L))
        assert(found("c in ('a', 'b')") == Set(0L, 1L, 3L))
        assert(found("c like 'a%'") == Set(0L, 1L, 3L))
        assert(found("v = 'a'") == Set(0L, 3L))
        assert(found("v > 'a'") == Set(1L))
      } finally spark.conf.unset("spark.sql.readSideCharPadding")
    }
  }

  test("streams read texts with a length, by name and by path") {
    val (name, path) = (freshTable(), freshPath())
    spark.sql(s"create table $name (id bigint, c char(3)) using zrecord location '$path'")
    spark.sql(s"insert into $name values (1, 'a'), (2, 'b')")
    for (
      stream <- Seq(spark.readStream.table(name), spark.readStream.format("zrecord").load(path))
    ) {
      val rows = scala.collection.mutable.Buffer.empty[Row]
      run(
        writer(stream.where("trim(c) = 'a'"), freshDirectory())
          .foreachBatch { (batch: DataFrame, _: Long) =>
            rows ++= batch.selectExpr("id", "trim(c)").collect()
            ()
          }
          .start()
      )
      assert(rows.toSeq == Seq(Row(1L, "a")))
    }
  }

  test("tables of other data sources are Spark's concern") {
    val name = freshTable()
    spark.sql(s"create table $name using parquet as select id from range(3)")
    assert(ids(name) == Seq(0, 1, 2))
    spark.sql(s"insert into $name values (9)")
    spark.range(2).write.mode("append").saveAsTable(name)
    assert(ids(name) == Seq(0, 0, 1, 1, 2, 9))
    spark.range(2).write.format("parquet").mode("overwrite").saveAsTable(name)
    assert(ids(name) == Seq(0, 1))
    spark.sql(s"alter table $name add columns (text string)")
    assert(spark.table(name).columns.toSeq == Seq("id", "text"))
    val path = Paths.get(locationOf(name))
    assert(Files.exists(path))
    spark.sql(s"drop table $name")
    assert(!Files.exists(path))
    spark.sql(s"create or replace temporary view ${name}_view as select 1 id")
    assert(ids(s"${name}_view") == Seq(1))
    spark.sql(s"create view ${name}_permanent as select 1 id")
    assert(ids(s"${name}_permanent") == Seq(1))
    spark.sql(s"drop view ${name}_permanent")
  }

  test("a table in another database") {
    val database = freshTable()
    spark.sql(s"create database $database")
    spark.sql(s"create table $database.t using zrecord as select id from range(3)")
    assert(ids(s"$database.t") == Seq(0, 1, 2))
    assert(locationOf(s"$database.t").contains(s"$database.db"))
    spark.sql(s"drop database $database cascade")
  }

  testLocally("no statement gives a table a place where dropping a table deletes another's rows") {
    val database = freshTable()
    spark.sql(s"create database $database")
    val (managed, external) = (freshTable(), freshTable())
    val (apart, outside) = (freshPath(), freshPath())
    spark.sql(s"create table $managed using zrecord as select id from range(3)")
    spark.sql(s"create table $external using zrecord location '$apart' as select id from range(5)")
    val others = Seq(
      (s"$database.owner", true, s"create table $database.owner using zrecord as"),
      (s"$database.foreign", true, s"create table $database.foreign using parquet as"),
      (
        s"$database.named",
        false,
        s"create table $database.named using zrecord location '$outside' as"
      )
    )
    others.foreach { case (_, _, create) => spark.sql(s"$create select id + 100 id from range(4)") }
    val homes = others.map { case (other, isManaged, _) => (isManaged, locationOf(other)) }
    for ((isManaged, home) <- homes) {
      val (parent, link) = (Paths.get(home).getParent, Paths.get(freshPath()))
      Files.createSymbolicLink(link, Paths.get(home))
      val linked = Seq(s"$link", s"$link/within")
      for (
        place <- linked ++ Seq(home, s"$home/", s"$parent/./${Paths.get(home).getFileName}") ++
          Seq(s"$home/within", s"$home/within/it", s"$parent")
      ) {
        def refused(statement: => Any): Unit = {
          val message = failure(statement)
          assert(
            message.contains("where another table has its files: ") ||
              message.contains("there is a dataset already"),
            s"$place: $message"
          )
        }
        refused(spark.sql(s"alter table $managed set location '$place'"))
        if (isManaged) {
          val name = freshTable()
          refused(spark.sql(s"alter table $external set location '$place'"))
          refused(spark.sql(s"create table $name (id bigint) using zrecord location '$place'"))
          refused(
            spark.sql(s"create table $name (id bigint) using zrecord options (path '$place')")
          )
          refused(spark.sql(s"create table $name using zrecord location '$place' as select 1L id"))
          refused(
            spark.sql(
              s"create or replace table $name using zrecord location '$place' as select 1L id"
            )
          )
          refused(spark.range(2).write.format("zrecord").option("path", place).saveAsTable(name))
          assert(!spark.catalog.tableExists(name))
        }
      }
    }
    // Dropping an external table deletes nothing, so two of them may have one place.
    val second = freshTable()
    spark.sql(s"create table $second using zrecord location '$outside'")
    spark.sql(s"alter table $external set location '$outside'")
    for (name <- Seq(managed, second, external)) spark.sql(s"drop table $name")
    for ((other, _, _) <- others) assert(ids(other) == (100L until 104L), other)
    assert(read(apart).count() == 5)
    spark.sql(s"drop database $database cascade")
    assert(read(outside).count() == 4)
  }

  testLocally("a query makes no managed table of a directory with files of others") {
    val (outer, inner) = (freshTable(), freshTable())
    val home = s"${spark.conf.get("spark.sql.warehouse.dir").replaceFirst("^file:/*", "/")}/$outer"
    spark.sql(
      s"create table $inner using zrecord location '$home/inner' as select id from range(3)"
    )
    for (verb <- Seq("create", "create or replace")) {
      val message = failure(spark.sql(s"$verb table $outer using zrecord as select 1L id"))
      assert(message.contains("has other files"), message)
    }
    assert(!spark.catalog.tableExists(outer))
    assert(ids(inner) == Seq(0, 1, 2))
  }
}
