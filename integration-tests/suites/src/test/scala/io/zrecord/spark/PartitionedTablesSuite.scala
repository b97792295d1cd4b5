package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.table.TableSnapshot
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, days}

/** Tables that are partitioned by columns: a table of ways to create and to write, with what each
  * of them promises.
  */
class PartitionedTablesSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** A table under its name in SQL, and its path. */
  private case class Target(name: String, path: String)

  private def named(): Target = {
    val table = freshTable()
    Target(s"lake.$table", s"$warehouse/$table")
  }

  private def atPath(): Target = {
    val path = freshPath()
    Target(s"zrecord.`$path`", path)
  }

  private def inSession(): Target = {
    val table = freshTable()
    val path = freshPath()
    Target(table, path)
  }

  private def snapshot(target: Target): TableSnapshot = tableAt(target.path).latest()

  /** Returns the partition and the number of records of each shard, in index order. */
  private def shards(target: Target): Seq[(Seq[String], Long)] =
    snapshot(target).shards().asScala.toSeq.map(s => (s.partition().asScala.toSeq, s.length()))

  private def partitionsOf(target: Target): Seq[Seq[String]] = shards(target).map(_._1)

  private def fieldsOf(target: Target): Seq[String] =
    snapshot(target).partitionFields().asScala.toSeq.map(_.name())

  /** 12 rows in 3 values of `a`, which take turns. */
  private def data: DataFrame = spark
    .range(0, 12, 1, 3)
    .selectExpr("id", "concat('k', id % 3) a", "cast(id % 2 as int) b")

  private val Expected = (0L until 12L).map(i => Row(i, s"k${i % 3}", (i % 2).toInt))

  private def contents(target: Target): Seq[Row] =
    sql(s"select id, a, b from ${target.name} order by id")

  private val clause = "partitioned by (a)"

  /** Ways to create a table of `data` that is partitioned by `a`. */
  private val creations: Seq[(String, () => Target)] = Seq(
    "CREATE and INSERT" -> { () =>
      val t = named()
      sql(s"create table ${t.name} (id bigint, a string, b int) $clause")
      assert(fieldsOf(t) == Seq("a"))
      data.createOrReplaceTempView("src")
      sql(s"insert into ${t.name} select * from src")
      t
    },
    "CREATE AS SELECT" -> { () =>
      val t = named()
      data.createOrReplaceTempView("src")
      sql(s"create table ${t.name} $clause as select * from src")
      t
    },
    "CREATE OR REPLACE AS SELECT" -> { () =>
      val t = named()
      data.createOrReplaceTempView("src")
      sql(s"create table ${t.name} (other int) partitioned by (other)")
      sql(s"create or replace table ${t.name} $clause as select * from src")
      t
    },
    "REPLACE" -> { () =>
      val t = named()
      data.createOrReplaceTempView("src")
      sql(s"create table ${t.name} as select * from src")
      sql(s"replace table ${t.name} (id bigint, a string, b int) $clause")
      data.writeTo(t.name).append()
      t
    },
    "save" -> { () =>
      val t = atPath()
      data.write.format("zrecord").partitionBy("a").save(t.path)
      t
    },
    "saveAsTable" -> { () =>
      val t = named()
      data.write.format("zrecord").partitionBy("a").saveAsTable(t.name)
      t
    },
    "saveAsTable over a table" -> { () =>
      val t = named()
      sql(s"create table ${t.name} (other int)")
      data.write.format("zrecord").partitionBy("a").mode("overwrite").saveAsTable(t.name)
      t
    },
    "writeTo create" -> { () =>
      val t = named()
      data.writeTo(t.name).partitionedBy(col("a")).create()
      t
    },
    "writeTo createOrReplace at a path" -> { () =>
      val t = atPath()
      data.writeTo(t.name).partitionedBy(col("a")).createOrReplace()
      t
    },
    "CREATE in the session's catalog" -> { () =>
      val t = inSession()
      val columns = "id bigint, a string, b int"
      sql(s"create table ${t.name} ($columns) using zrecord $clause location '${t.path}'")
      assert(fieldsOf(t) == Seq("a"))
      data.writeTo(t.name).append()
      t
    },
    "CREATE AS SELECT in the session's catalog" -> { () =>
      val t = inSession()
      data.createOrReplaceTempView("src")
      sql(
        s"create table ${t.name} using zrecord $clause location '${t.path}' as select * from src"
      )
      t
    },
    "CREATE OR REPLACE in the session's catalog" -> { () =>
      val t = inSession()
      data.createOrReplaceTempView("src")
      sql(s"create table ${t.name} using zrecord location '${t.path}' as select 1 x")
      sql(s"create or replace table ${t.name} using zrecord $clause as select * from src")
      t
    }
  )

  for ((way, create) <- creations)
    test(s"$way makes a partitioned table whose shards have one value each") {
      val t = create()
      assert(fieldsOf(t) == Seq("a"))
      assert(contents(t) == Expected)
      assert(shards(t) == Seq("k0", "k1", "k2").map(a => (Seq(a), 4L)))
      val described = sql(s"describe table ${t.name}").map(_.getString(0))
      assert(described.exists(_.startsWith("# Partition")), described)
      if (!t.name.contains("`")) {
        val shown = sql(s"show create table ${t.name}").head.getString(0)
        assert(shown.contains("PARTITIONED BY (a)"), shown)
      }
    }

  /** Ways to append to a partitioned table. */
  private val appends: Seq[(String, (Target, DataFrame) => Unit)] = Seq(
    "INSERT by position" -> { (t, d) =>
      d.createOrReplaceTempView("src")
      sql(s"insert into ${t.name} select * from src")
    },
    "INSERT by name" -> { (t, d) =>
      d.createOrReplaceTempView("src")
      sql(s"insert into ${t.name} (b, a, id) select b, a, id from src")
    },
    "INSERT with PARTITION" -> { (t, d) =>
      d.createOrReplaceTempView("src")
      for (a <- d.select("a").distinct().collect().map(_.getString(0))) {
        val value =
          if (a == null) "null" else "'" + a.replace("\\", "\\\\").replace("'", "\\'") + "'"
        sql(
          s"insert into ${t.name} partition (a = $value) select id, b from src where a <=> $value"
        )
      }
    },
    "insertInto" -> ((t, d) => d.write.insertInto(t.name)),
    "writeTo append" -> ((t, d) => d.writeTo(t.name).append()),
    "save append" -> ((t, d) => write(d, t.path, "append")),
    "save append with partitionBy" -> ((t, d) =>
      d.write.format("zrecord").mode("append").partitionBy("a").save(t.path)
    ),
    "saveAsTable append with partitionBy" -> ((t, d) =>
      d.write.format("zrecord").mode("append").partitionBy("a").saveAsTable(t.name)
    )
  )

  private val odd =
    Seq(null, "", " ", "a/b", "a=b", "it's \\ \u00e4\u6f22\ud83d\ude00", "null", "NULL", "k0")

  for ((way, append) <- appends)
    test(s"$way puts null, texts with odd characters and no rows at all where they belong") {
      val t = named()
      sql(s"create table ${t.name} (id bigint, a string, b int) $clause")
      val values = spark
        .createDataFrame(
          odd.zipWithIndex.map { case (a, i) => Row(i.toLong, a, i) }.asJava,
          spark.table(t.name).schema
        )
      append(t, values.where("false"))
      assert(contents(t).isEmpty)
      append(t, values)
      assert(contents(t) == odd.zipWithIndex.map { case (a, i) => Row(i.toLong, a, i) })
      assert(partitionsOf(t).map(_.head).toSet == odd.toSet)
      assert(shards(t).forall(_._2 == 1))
    }

  test("partitions of every type that can be one are written, also of narrower columns") {
    val types = Seq(
      "boolean" -> "true",
      "tinyint" -> "-128",
      "smallint" -> "-32768",
      "int" -> "2147483647",
      "bigint" -> "-9223372036854775808",
      "decimal(7,2)" -> "-12345.67",
      "decimal(18,3)" -> "1.001",
      "decimal(38,0)" -> "99999999999999999999999999999999999999",
      "date" -> "'2024-02-29'",
      "timestamp" -> "'1969-12-31 23:59:59.999999'",
      "timestamp_ntz" -> "'2024-02-29 01:02:03'",
      "string" -> "'x'"
    )
    for ((kind, value) <- types) {
      val t = named()
      sql(s"create table ${t.name} (id int, p $kind) partitioned by (p)")
      sql(s"insert into ${t.name} select 1, cast($value as $kind) union all select 2, null")
      assert(sql(s"select id from ${t.name} where p is null") == Seq(Row(2)), kind)
      assert(
        sql(s"select id, p = cast($value as $kind) from ${t.name} where p is not null") ==
          Seq(Row(1, true)),
        kind
      )
      assert(partitionsOf(t).head == Seq(null), kind)
    }
    val t = named()
    sql(s"create table ${t.name} (id int, p bigint, d timestamp_ntz) partitioned by (p, d)")
    write(
      spark.sql("select 1 id, cast(-5 as tinyint) p, date'1969-12-31' d"),
      t.path,
      "append"
    )
    assert(partitionsOf(t) == Seq(Seq("-5", "1969-12-31T00:00:00.000000")))
    assert(
      sql(s"select p, cast(d as string) from ${t.name}") == Seq(Row(-5L, "1969-12-31 00:00:00"))
    )
  }

  test(
    "what cannot be a partition is refused with its name and a remedy, before anything is made"
  ) {
    def refused(columns: String, by: String, words: String*): Unit = {
      val t = named()
      val message = failure(sql(s"create table ${t.name} ($columns) partitioned by ($by)"))
      words.foreach(word => assert(message.contains(word), message))
      assert(!tableAt(t.path).exists())
    }
    refused("id int, p float", "p", "'p'", "f32", "dates")
    refused("id int, p double", "p", "'p'", "f64")
    refused("id int, p binary", "p", "'p'", "bytes")
    refused("id int, p array<int>", "p", "'p'", "i32")
    refused("id int, p struct<x: int>", "p", "'p'")
    refused("id int", "bucket(4, id)", "bucket", "add a column")
    refused("id int, d date", "days(d)", "days", "add a column")
    refused("id int, s string", "truncate(2, s)", "truncate", "add a column")
    val t = named()
    val message =
      failure(data.writeTo(t.name).partitionedBy(days(col("d"))).create())
    assert(message.contains("d") && !tableAt(t.path).exists(), message)
    val path = freshPath()
    val twice = failure(data.write.format("zrecord").partitionBy("a", "A").save(path))
    assert(twice.toLowerCase.contains("a"), twice)
    val absent = failure(data.write.format("zrecord").partitionBy("x").save(path))
    assert(absent.contains("x"), absent)
    assert(!tableAt(path).exists())
  }

  test("partitions that differ from those of the table are refused with both named") {
    val t = named()
    data.writeTo(t.name).partitionedBy(col("a")).create()
    val version = snapshot(t).version()
    val ways: Seq[() => Any] = Seq(
      () => data.write.format("zrecord").mode("append").partitionBy("b").save(t.path),
      () => data.write.format("zrecord").mode("overwrite").partitionBy("b").save(t.path),
      () => data.write.format("zrecord").mode("append").partitionBy("a", "b").saveAsTable(t.name),
      () =>
        sql(
          s"create table ${freshTable()} (id bigint, a string, b int) using zrecord " +
            s"partitioned by (b) location '${t.path}'"
        )
    )
    for ((way, i) <- ways.zipWithIndex) {
      val message = failure(way())
      assert(message.contains("a") && message.contains("b"), s"$i: $message")
    }
    assert(snapshot(t).version() == version)
    val entry = freshTable()
    sql(
      s"create table $entry (id bigint, a string, b int) using zrecord " +
        s"partitioned by (a) location '${t.path}'"
    )
    assert(sql(s"select count(*) from $entry") == Seq(Row(12)))
    val plain = named()
    data.writeTo(plain.name).create()
    val message =
      failure(data.write.format("zrecord").mode("append").partitionBy("a").save(plain.path))
    assert(message.contains("a"), message)
  }

  test("an overwrite keeps the partitions, and a replacement has its own") {
    val t = named()
    data.writeTo(t.name).partitionedBy(col("a")).create()
    val ways: Seq[() => Any] = Seq(
      () => write(data, t.path, "overwrite"),
      () => sql(s"insert overwrite ${t.name} select * from src"),
      () => data.writeTo(t.name).overwrite(org.apache.spark.sql.functions.lit(true)),
      () => data.write.mode("overwrite").insertInto(t.name)
    )
    data.createOrReplaceTempView("src")
    ways.foreach { way =>
      way()
      assert(fieldsOf(t) == Seq("a"))
      assert(contents(t) == Expected)
      assert(partitionsOf(t) == Seq(Seq("k0"), Seq("k1"), Seq("k2")))
    }
    val message = failure(write(data.drop("a"), t.path, "overwrite"))
    assert(message.contains("'a'") && message.contains("createOrReplace"), message)
    data.writeTo(t.name).partitionedBy(col("b"), col("a")).createOrReplace()
    assert(fieldsOf(t) == Seq("b", "a"))
    assert(partitionsOf(t).distinct.size == 6)
    data.writeTo(t.name).createOrReplace()
    assert(fieldsOf(t).isEmpty && contents(t) == Expected)
  }

  test("indices follow the values of partitions, and without a shuffle the rows of the query") {
    for (distribution <- Seq("none", "partition")) {
      val t = named()
      sql(
        s"create table ${t.name} (id bigint, p int) partitioned by (p) " +
          s"tblproperties ('write.distribution' = '$distribution')"
      )
      spark
        .range(0, 4000, 1, 4)
        .selectExpr("id", "cast(if(id % 7 = 6, null, 5 - id % 7) as int) p")
        .writeTo(t.name)
        .append()
      val found = sql(s"select p, id from ${t.name} order by _index")
      val values = found.map(r => if (r.isNullAt(0)) -1000 else r.getInt(0))
      assert(values == values.sorted, distribution)
      assert(found.map(_.getLong(1)).sorted == (0L until 4000L))
      val byTasks = partitionsOf(t).size
      assert(if (distribution == "none") byTasks == 28 else byTasks < 28, byTasks)
      if (distribution == "none")
        for (rows <- found.groupBy(_.get(0)).values.map(_.map(_.getLong(1))))
          assert(rows == rows.sorted)
    }
  }

  test("an option of a write goes before the property, and both are parsed") {
    val t = named()
    sql(s"create table ${t.name} (id bigint, p bigint) partitioned by (p)")
    val rows = spark.range(0, 100, 1, 4).selectExpr("id", "id % 2 p")
    rows.writeTo(t.name).option("distribution", "none").append()
    assert(shards(t).size == 8)
    sql(s"alter table ${t.name} set tblproperties ('write.distribution' = 'none')")
    rows.writeTo(t.name).append()
    assert(shards(t).size == 16)
    rows.writeTo(t.name).option("distribution", "partition").append()
    assert(shards(t).size < 24)
    sql(s"alter table ${t.name} unset tblproperties ('write.distribution')")
    val option = failure(rows.writeTo(t.name).option("distribution", "hash").append())
    assert(option.contains("hash") && option.contains("partition"), option)
    val property =
      failure(sql(s"alter table ${t.name} set tblproperties ('write.distribution' = 'hash')"))
    assert(property.contains("'hash'") && property.contains("none"), property)
  }

  test("the property of a table of the session's catalog is obeyed by each write") {
    val rows = spark.range(0, 100, 1, 4).selectExpr("id", "id % 2 p")
    rows.createOrReplaceTempView("rows_of_two")
    val t = inSession()
    val property = "tblproperties ('write.distribution' = 'none')"
    sql(
      s"create table ${t.name} using zrecord partitioned by (p) location '${t.path}' $property " +
        "as select * from rows_of_two"
    )
    assert(shards(t).size == 8)
    sql(s"insert into ${t.name} select * from rows_of_two")
    rows.writeTo(t.name).append()
    assert(shards(t).size == 24)
    rows.writeTo(t.name).option("distribution", "partition").append()
    assert(shards(t).size < 32)
    val message =
      failure(sql(s"alter table ${t.name} set tblproperties ('write.distribution' = 'hash')"))
    assert(message.contains("hash") && message.contains("partition"), message)
    assert(!sql(s"show tblproperties ${t.name}").exists(_.getString(1) == "hash"))
  }

  test("an ORDER BY is kept within each partition where nothing is shuffled") {
    val t = named()
    spark
      .range(0, 1000, 1, 4)
      .selectExpr("id", "id * 7919 % 1000 x", "id % 3 p")
      .createOrReplaceTempView("src")
    sql(
      s"create table ${t.name} partitioned by (p) options ('distribution' = 'none') " +
        "as select * from src order by x"
    )
    for (rows <- sql(s"select p, x from ${t.name} order by _index").groupBy(_.get(0)).values)
      assert(rows.map(_.getLong(1)) == rows.map(_.getLong(1)).sorted)
  }

  test("a task with more partitions than it may have open writes all rows, in bounded memory") {
    val t = named()
    sql(s"create table ${t.name} (id bigint, p bigint, s string) partitioned by (p)")
    val rows = spark.range(0, 240, 1, 1).selectExpr("id", "id div 2 % 20 p", "repeat('x', 100) s")
    rows.writeTo(t.name).option("distribution", "none").option("stripeBytes", "64k").append()
    assert(
      sql(s"select count(*), sum(id), count(distinct p) from ${t.name}") ==
        Seq(Row(240L, 28680L, 20L))
    )
    assert(shards(t).size == 120)
    val ids =
      sql(s"select p, id from ${t.name} order by _index").map(r => (r.getLong(0), r.getLong(1)))
    assert(ids == ids.sorted)
    rows.writeTo(t.name).append()
    assert(shards(t).size == 140)
  }

  test("columns of varchar and char are partition columns, where Spark keeps their types as well") {
    val key = "spark.sql.preserveCharVarcharTypeInfo"
    for (keeps <- Seq("true", "false"); kind <- Seq("varchar(5)", "char(5)")) {
      spark.conf.set(key, keeps)
      try {
        val query =
          s"select id, cast(p as $kind) p from values (1, 'x'), (2, null), (3, 'y') as v(id, p)"
        val ways = Seq[Target => Any](
          t => sql(s"create table ${t.name} partitioned by (p) as $query"),
          t => {
            sql(s"create table ${t.name} (id int, p string) partitioned by (p)")
            spark.sql(query).writeTo(t.name).append()
          },
          t => spark.sql(query).writeTo(t.name).partitionedBy(col("p")).create()
        )
        for ((way, i) <- ways.zipWithIndex) {
          val t = named()
          way(t)
          val partitions = partitionsOf(t).map(p => Option(p.head).map(_.trim))
          assert(partitions == Seq(None, Some("x"), Some("y")), (keeps, kind, i))
          assert(
            sql(s"select id from ${t.name} where trim(p) = 'y'") == Seq(Row(3)),
            (keeps, kind, i)
          )
        }
        val t = inSession()
        sql(
          s"create table ${t.name} (id int, p $kind) using zrecord partitioned by (p) " +
            s"location '${t.path}'"
        )
        sql(s"insert into ${t.name} $query")
        assert(sql(s"select id from ${t.name} where trim(p) = 'y'") == Seq(Row(3)))
      } finally spark.conf.unset(key)
    }
  }

  test("a retried task counts once, and what it wrote before is deleted") {
    for (distribution <- Seq("none", "partition")) {
      val t = named()
      sql(s"create table ${t.name} (id bigint, p bigint) partitioned by (p)")
      val fails = org.apache.spark.sql.functions
        .udf { (id: Long) =>
          if (id == 900 && org.apache.spark.TaskContext.get().attemptNumber() == 0)
            throw new IllegalStateException("the first attempt fails")
          id
        }
        .asNondeterministic()
      spark
        .range(0, 1000, 1, 2)
        .select(fails(col("id")).as("id"), (col("id") % 20).as("p"))
        .writeTo(t.name)
        .option("distribution", distribution)
        .append()
      assert(sql(s"select count(*), count(distinct id) from ${t.name}") == Seq(Row(1000L, 1000L)))
      if (TestBase.isLocal) {
        val written = new java.io.File(t.path, "shard").list().length
        assert(written == shards(t).size, distribution)
      }
    }
  }

  test("NOT NULL, defaults and identities hold beside and in partition columns") {
    val t = named()
    sql(
      s"create table ${t.name} (id bigint not null, a string not null default 'none', " +
        s"b int default 7) $clause"
    )
    sql(s"insert into ${t.name} values (1, default, default), (2, 'x', 3)")
    write(spark.range(3, 4).toDF(), t.path, "append")
    assert(contents(t) == Seq(Row(1L, "none", 7), Row(2L, "x", 3), Row(3L, "none", 7)))
    assert(partitionsOf(t) == Seq(Seq("none"), Seq("x"), Seq("none")))
    val message = failure(sql(s"insert into ${t.name} values (4, null, 1)"))
    assert(message.contains("a"), message)
    assert(contents(t).size == 3)
    val optional = named()
    sql(s"create table ${optional.name} (id bigint, a string) $clause")
    write(spark.range(1).toDF(), optional.path, "append", "mergeSchema" -> "true")
    assert(partitionsOf(optional) == Seq(Seq(null)))
    assert(sql(s"select id from ${optional.name} where a is null") == Seq(Row(0)))
  }
}
