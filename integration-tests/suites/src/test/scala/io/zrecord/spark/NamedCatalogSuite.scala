package io.zrecord.spark

import java.util.concurrent.ConcurrentLinkedQueue

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{RecordTable, TableChange}
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.connector.catalog.{NamespaceChange, SupportsNamespaces}

/** Tables and namespaces by their names, in a catalog with a warehouse. */
class NamedCatalogSuite extends SparkSuite {
  private lazy val warehouse = freshPath()
  private val Settings = "spark.sql.catalog.lake"

  override protected def configuration: Map[String, String] = Map(
    Settings -> classOf[ZRecordCatalog].getName,
    s"$Settings.warehouse" -> (warehouse + "/")
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def ids(table: String): Seq[Long] =
    sql(s"select id from $table order by id").map(_.getLong(0))

  private def strings(text: String, column: Int): Set[String] =
    sql(text).map(_.getString(column)).toSet

  private def tables(namespace: String): Set[String] = strings(s"show tables in $namespace", 1)

  private def tableIn(path: String): RecordTable = tableAt(s"$warehouse/$path")

  private def freshNamespace(): String = {
    val name = "n" + freshTable()
    sql(s"create namespace lake.$name")
    name
  }

  test("a table is created, filled, read, replaced and dropped by its name") {
    val space = freshNamespace()
    val t = s"lake.$space.t"
    assert(tables(s"lake.$space").isEmpty)
    sql(s"create table $t (id bigint, name string) using zrecord")
    assert(tables(s"lake.$space") == Set("t"))
    sql(s"insert into $t values (1, 'a'), (2, 'b')")
    sql(s"insert into $t (name, id) values ('c', 3)")
    assert(ids(t) == Seq(1, 2, 3))
    assert(sql(s"select count(*) from $t a join $t b on a.id = b.id") == Seq(Row(3)))
    assert(ids(s"$t version as of 1") == Seq(1, 2))
    assert(sql(s"select _index from $t where _index = 2") == Seq(Row(2)))
    sql(s"insert overwrite $t values (4, 'd')")
    assert(ids(t) == Seq(4))
    assert(tableIn(s"$space/t").latest().version() == 3)
    sql(s"create or replace table $t using zrecord as select id from range(2)")
    assert(ids(t) == Seq(0, 1) && spark.table(t).columns.toSeq == Seq("id"))
    sql(s"drop table $t")
    assert(!spark.catalog.tableExists(t))
    assert(tables(s"lake.$space").isEmpty)
    assert(failure(sql(s"select * from $t")).contains("TABLE_OR_VIEW_NOT_FOUND"))
    assert(failure(sql(s"drop table $t")).contains("TABLE_OR_VIEW_NOT_FOUND"))
    sql(s"drop table if exists $t")
    sql(s"create table $t (id bigint)")
    assert(ids(t).isEmpty)
  }

  test("frames are written to a name in every way") {
    val space = freshNamespace()
    val t = s"lake.$space.frames"
    val data = spark.range(3).toDF()
    data.write.format("zrecord").saveAsTable(t)
    assert(ids(t) == Seq(0, 1, 2))
    data.write.format("zrecord").mode("append").saveAsTable(t)
    data.write.insertInto(t)
    data.writeTo(t).append()
    assert(ids(t).size == 12)
    data.writeTo(t).using("zrecord").createOrReplace()
    data.write.format("zrecord").mode("overwrite").saveAsTable(t)
    data.write.mode("ignore").format("zrecord").saveAsTable(t)
    assert(ids(t) == Seq(0, 1, 2))
    data.writeTo(s"lake.$space.other").create()
    assert(ids(s"lake.$space.other") == Seq(0, 1, 2))
    val exists = failure(data.writeTo(s"lake.$space.other").create())
    assert(exists.contains("already exists"), exists)
    val parquet = failure(data.write.saveAsTable(s"lake.$space.parquet"))
    assert(parquet.contains("""format("zrecord")"""), parquet)
    assert(tables(s"lake.$space") == Set("frames", "other"))
  }

  test("what any program writes at the place of a name is a table") {
    val space = "by_java_" + freshTable()
    RecordTable
      .at(SparkStorages.storageFor(s"$warehouse/$space/deep/t"))
      .commit(
        TableChange
          .of(
            TableChange.Kind.CREATE,
            RecordSchema.builder().field("id", ElementType.I64).build()
          )
          .build()
      )
    assert(ids(s"lake.$space.deep.t").isEmpty)
    sql(s"insert into lake.$space.deep.t values (7)")
    assert(ids(s"lake.$space.deep.t") == Seq(7))
    assert(ids(s"lake.`$warehouse/$space/deep/t`") == Seq(7))
    assert(tables(s"lake.$space.deep") == Set("t"))
    assert(strings(s"show namespaces in lake.$space", 0) == Set(s"$space.deep"))
    assert(strings("show namespaces in lake", 0).contains(space))
    write(spark.range(2).toDF(), s"$warehouse/$space/u", "errorifexists")
    assert(tables(s"lake.$space") == Set("u"))
  }

  test("namespaces are created, described, changed and dropped") {
    val space = "ns_" + freshTable()
    sql(s"create namespace lake.$space comment 'photos' with dbproperties ('a' = '1', 'b' = '2')")
    sql(s"create namespace if not exists lake.$space")
    assert(failure(sql(s"create namespace lake.$space")).contains("SCHEMA_ALREADY_EXISTS"))
    sql(s"alter namespace lake.$space set dbproperties ('b' = '3', 'c' = '4')")
    unset(space, "a")
    val described = sql(s"describe namespace extended lake.$space")
      .map(row => row.getString(0) -> row.getString(1))
      .toMap
    assert(described("Comment") == "photos")
    assert(described("Location") == s"$warehouse/$space")
    assert(described("Properties") == "((b,3), (c,4))")
    sql(s"create table lake.$space.t as select id from range(3)")
    sql(s"create namespace lake.$space.inner")
    sql(s"create table lake.$space.inner.u (id bigint)")
    assert(failure(sql(s"drop namespace lake.$space")).contains("SCHEMA_NOT_EMPTY"))
    sql(s"use lake.$space")
    try assert(sql("select max(id) from t") == Seq(Row(2)))
    finally sql("use spark_catalog.default")
    sql(s"drop namespace lake.$space cascade")
    assert(!strings("show namespaces in lake", 0).contains(space))
    assert(!tableIn(s"$space/t").exists() && !tableIn(s"$space/inner/u").exists())
    assert(failure(sql(s"drop namespace lake.$space")).contains("SCHEMA_NOT_FOUND"))
    sql(s"drop namespace if exists lake.$space")
    assert(failure(sql(s"use lake.$space")).contains("SCHEMA_NOT_FOUND"))
    assert(failure(sql(s"show tables in lake.$space")).contains("SCHEMA_NOT_FOUND"))
    assert(failure(sql(s"create table lake.$space.t (id int)")).contains("SCHEMA_NOT_FOUND"))
  }

  /** Spark 3.5 has no statement for this. */
  private def unset(space: String, property: String): Unit =
    if (spark.version.startsWith("3."))
      spark.sessionState.catalogManager
        .catalog("lake")
        .asInstanceOf[SupportsNamespaces]
        .alterNamespace(Array(space), NamespaceChange.removeProperty(property))
    else sql(s"alter namespace lake.$space unset dbproperties ('$property')")

  test("a table may stand in the warehouse itself, and under any allowed name") {
    val name = "Größe & co " + freshTable()
    sql(s"create table lake.`$name` (id bigint)")
    sql(s"insert into lake.`$name` values (1)")
    assert(ids(s"lake.`$name`") == Seq(1))
    assert(tables("lake").contains(name))
    assert(failure(sql(s"select * from lake.`${name.toUpperCase}`")).contains("NOT_FOUND"))
    // Names that say something of paths elsewhere.
    for (level <- Seq("view", "settings", "paths", "pattern", "literal")) {
      sql(s"create namespace if not exists lake.$level.cache")
      sql(s"create or replace table lake.$level.cache.t as select 5L id")
      assert(ids(s"lake.$level.cache.t") == Seq(5))
    }
    sql(s"drop table lake.`$name`")
  }

  test("what a warehouse does not keep is refused") {
    val space = freshNamespace()
    val t = s"lake.$space.t"
    sql(s"create table $t as select id from range(3)")
    def refused(statement: String, words: String*): Unit = {
      val message = failure(sql(statement))
      words.foreach(word => assert(message.contains(word), s"$statement: $message"))
    }
    refused(s"create table $t (id bigint)", "already exists")
    refused(s"create table lake.$space.`_t` (id bigint)", "'_t' is not allowed")
    refused(s"create table lake.$space.manifest (id bigint)", "'manifest' is not allowed")
    refused(s"create namespace lake.`a:b`", "'a:b' is not allowed")
    refused(s"create table lake.$space (id bigint)", "there is a namespace of that name")
    refused(s"create namespace $t", "SCHEMA_ALREADY_EXISTS")
    refused(s"create table lake.$space.u (id bigint) location '/x'", "leave LOCATION out")
    refused(s"create namespace lake.$space.v location '/x'", "leave LOCATION out")
    refused(s"alter namespace lake.$space set location '/x'", "leave LOCATION out")
    refused(s"create table lake.$space.u (id bigint) using parquet", "as parquet")
    refused(s"alter table $t rename to lake.$space.u", "renaming", "as select")
    refused(s"drop table lake.`$warehouse/$space/t`", "bin/zrecord drop")
    assert(ids(t) == Seq(0, 1, 2))
    assert(tables(s"lake.$space") == Set("t"))
  }

  test("a catalog without a warehouse has paths, and says how names come") {
    val session = spark.newSession()
    session.conf.set("spark.sql.catalog.bare", classOf[ZRecordCatalog].getName)
    for (statement <- Seq("show tables in bare", "show namespaces in bare"))
      assert(failure(session.sql(statement)).contains("warehouse"), statement)
    assert(
      failure(session.sql("create namespace bare.a")).contains("spark.sql.catalog.bare.warehouse")
    )
    assert(failure(session.sql("select * from bare.a.t").collect()).contains("NOT_FOUND"))
    val path = freshPath()
    session.sql(s"create table bare.`$path` as select 1L id")
    assert(session.sql(s"select * from bare.`$path`").count() == 1)
  }

  test("the catalog zrecord needs no more than a warehouse") {
    val session = spark.newSession()
    session.conf.set("spark.sql.catalog.zrecord.warehouse", warehouse)
    val space = freshNamespace()
    session.sql(s"create table zrecord.$space.t as select 1L id")
    assert(ids(s"lake.$space.t") == Seq(1))
    assert(session.sql(s"select * from zrecord.`$warehouse/$space/t`").count() == 1)
  }

  test("of several that create a table at once one does, and the others find the table") {
    val space = freshNamespace()
    val sessions = (1 to 4).map(_ => cloned())
    val failures = new ConcurrentLinkedQueue[Throwable]
    val threads = sessions.map { session =>
      new Thread(() => {
        SparkSession.setActiveSession(session)
        try session.sql(s"create table if not exists lake.$space.raced (id bigint)").collect()
        catch { case e: Throwable => failures.add(e) }
      })
    }
    threads.foreach(_.start())
    threads.foreach(_.join())
    assert(failures.isEmpty, failures)
    assert(tableIn(s"$space/raced").latest().version() == 0)
  }

  private def cloned(): SparkSession = {
    val session = spark.newSession()
    configuration.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  test("a dropped table leaves its files to nobody, and purge takes what a write has left") {
    val space = freshNamespace()
    for (purge <- Seq("", " purge")) {
      val t = s"lake.$space.t"
      sql(s"create table $t as select id from range(100)")
      sql(s"insert into $t select id from range(100)")
      val files = filesOf(s"$warehouse/$space/t")
      assert(files.names.exists(_.startsWith("shard/")))
      sql(s"drop table $t$purge")
      assert(files.names.forall(_.startsWith("manifest/")), files.names)
      sql(s"create table $t as select id from range(1)")
      assert(ids(t) == Seq(0))
      sql(s"drop table $t")
    }
  }

  test("a table shows its name, and its columns with their comments") {
    val space = freshNamespace()
    sql(s"create table lake.$space.t (id bigint comment 'a number')")
    assert(sql(s"describe table lake.$space.t") == Seq(Row("id", "bigint", "a number")))
    val plan = spark.table(s"lake.$space.t").queryExecution.optimizedPlan.toString
    assert(plan.contains(s"lake.$space.t"), plan)
  }

  for (place <- Seq("a name", "a path"))
    test(s"what a statement declares of $place is kept, shown and obeyed") {
      val space = freshNamespace()
      val path = s"$warehouse/$space/t"
      val t = if (place == "a name") s"lake.$space.t" else s"lake.`$path`"
      sql(
        s"create table $t (id bigint not null comment 'a number', label int default -3, " +
          "price decimal(7,2) default 1.50, day date default date'2026-01-02', " +
          "name string default 'ü', flag boolean default true, ratio float default 0.5, " +
          "raw binary default X'00ff', at timestamp default timestamp'2026-01-02 03:04:05') " +
          "comment 'the labels' tblproperties ('team' = 'vision')"
      )
      val declared = tableAt(path).latest()
      assert(declared.declarations().comment() == "the labels")
      assert(declared.declarations().properties().get("team") == "vision")
      assert(!declared.schema().fields().get(0).rules().isNullable)
      assert(declared.schema().fields().get(0).rules().comment() == "a number")
      assert(declared.schema().fields().get(1).rules().defaultSql() == "-3")
      val shown = spark
        .sql(s"show tblproperties $t")
        .collect()
        .map(r => r.getString(0) -> r.getString(1))
        .toMap
      assert(shown("team") == "vision")
      val described =
        sql(s"describe table extended $t").map(r => r.getString(0) -> r.getString(1)).toMap
      assert(described("Comment") == "the labels")
      assert(described("Provider") == "zrecord")
      assert(described("Location").endsWith(path))
      // A writer in Java leaves out what has a default.
      val inJava = RecordDatasetWriter.append(
        SparkStorages.storageFor(path),
        declared.schema(),
        WriteOptions.defaults()
      )
      val records = inJava.newAppender()
      records.set("id", 1L).endRecord()
      inJava.commit()
      sql(
        s"insert into $t values (2, default, default, default, default, default, default, default, default)"
      )
      val rows = sql(s"select * from $t order by id")
      assert(rows.head.toSeq.tail.map(text) == rows(1).toSeq.tail.map(text))
      assert(rows.head.getInt(1) == -3 && rows.head.getString(4) == "ü")
      val nulls = failure(
        sql(s"insert into $t select cast(null as bigint), 1, 1, null, '', true, 1, null, null")
      )
      assert(nulls.toLowerCase.contains("null"), nulls)
      sql(s"create or replace table $t using zrecord tblproperties ('a' = '1') as select 1L id")
      assert(tableAt(path).latest().declarations().comment().isEmpty)
      assert(tableAt(path).latest().declarations().properties().get("a") == "1")
    }

  test("what a statement shows of a table makes the same table") {
    val space = freshNamespace()
    val t = s"lake.$space.t"
    sql(
      s"create table $t (id bigint not null comment 'a number', a int default cast('5' as int), " +
        "b int default -(6), c string default 'it\\'s now', d date default date'2026-01-02') " +
        "comment 'the labels' tblproperties ('team' = 'vision')"
    )
    sql(s"insert into $t values (1, default, default, default, default)")
    val expected = sql(s"select * from $t")
    assert(expected.head.toSeq.slice(1, 4) == Seq(5, -6, "it's now"))
    val statement = sql(s"show create table $t").head.getString(0)
    sql(s"drop table $t")
    sql(statement.replaceAll("(?s)LOCATION '[^']*'", ""))
    sql(s"insert into $t values (1, default, default, default, default)")
    assert(sql(s"select * from $t") == expected)
    assert(sql(s"show create table $t").head.getString(0) == statement)
  }

  test("a catalog is no namespace, and keeps no credentials") {
    val t = freshTable()
    sql(s"create table lake.$t as select 1L id")
    for (statement <- Seq("drop schema lake cascade", "drop namespace lake"))
      assert(failure(sql(statement)).contains("which is a catalog"), statement)
    assert(ids(s"lake.$t") == Seq(1))
    val space = freshNamespace()
    for (
      statement <- Seq(
        s"create namespace lake.${space}_b with dbproperties ('fs.s3a.secret.key' = 'hush')",
        s"alter namespace lake.$space set dbproperties ('fs.s3a.secret.key' = 'hush')"
      )
    ) {
      val message = failure(sql(statement))
      assert(message.contains("fs.s3a.secret.key") && !message.contains("hush"), message)
    }
  }

  private def text(value: Any): String = value match {
    case bytes: Array[Byte] => bytes.toSeq.toString
    case other => String.valueOf(other)
  }

  test("what a table cannot declare is refused") {
    val space = freshNamespace()
    def refused(columns: String, rest: String, words: String*): Unit = {
      val message = failure(sql(s"create table lake.$space.r ($columns) $rest"))
      words.foreach(word => assert(message.contains(word), message))
      assert(!tableIn(s"$space/r").exists())
    }
    refused("id struct<a: int not null>", "", "NOT NULL of 'id.a'")
    refused("id array<struct<a: int comment 'x'>>", "", "the comment of 'id.element.a'")
    refused("id map<string, varchar(3)>", "", "varchar(3)", "declare map<string,string>")
    refused("id struct<a: char(2), b: int>", "", "declare struct<a:string,b:int>")
    refused("id int", "tblproperties ('write.x' = '1')", "'write.x'", "shardBytes")
    refused(
      "id int",
      "tblproperties ('Compression' = 'zstd')",
      "'Compression'",
      "'write.Compression'"
    )
    refused(
      "id int",
      "tblproperties ('compression.id' = 'zstd')",
      "'compression.id'",
      "'write.compression.id'"
    )
    refused("id int", "tblproperties ('shape.id' = '3')", "'shape.id'", "OPTIONS")
    refused("id int", "tblproperties ('zrecord.unknown' = '1')", "zrecord.unknown")
    refused("id int", "tblproperties ('fs.s3a.secret.key' = 'hush')", "fs.s3a.secret.key")
    refused("id int", "partitioned by (bucket(2, id))", "add a column")
  }

  test("settings of a catalog reach the tables of its warehouse, and no message has a value") {
    val session = spark.newSession()
    session.conf.set(Settings, classOf[ZRecordCatalog].getName)
    session.conf.set(s"$Settings.warehouse", warehouse)
    session.conf.set(s"$Settings.verify", "hush")
    val message = failure(session.sql("show tables in lake").collect())
    assert(message.contains("verify") && message.contains("warehouse"), message)
    assert(!message.contains("hush"))
  }
}
