package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.table.SchemaChange
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.lit

/** Properties of tables that say options of writes: a table of ways to write, with what each of
  * them promises.
  */
class WritePropertiesSuite extends SparkSuite with StreamTables {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private case class Target(place: String, name: String, path: String) {
    def location: String = if (place == "a session table") s"location '$path'" else ""
    def shards: Seq[io.zrecord.shard.ShardSummary] =
      if (tableAt(path).exists()) tableAt(path).latest().shards().asScala.toSeq else Seq.empty
    def ids: Seq[Long] =
      sql(s"select id from $name order by _index").map(_.getLong(0))
  }

  private val places = Seq("a name", "a path", "a session table")

  private def target(place: String): Target = {
    val table = freshTable()
    val path = s"$warehouse/$table"
    Target(
      place,
      place match {
        case "a name" => s"lake.$table"
        case "a path" => s"zrecord.`$path`"
        case _ => table
      },
      path
    )
  }

  private def properties(said: (String, String)*): String =
    if (said.isEmpty) ""
    else
      said
        .map { case (name, value) => s"'$name' = '$value'" }
        .mkString("tblproperties (", ", ", ")")

  private def created(place: String, said: (String, String)*): Target = {
    val t = target(place)
    sql(
      s"create table ${t.name} (id bigint, k string) using zrecord ${t.location} " + properties(
        said: _*
      )
    )
    t
  }

  private val Rows = 4000

  /** Rows whose numbers are in no order, from 4 tasks. */
  private def data: DataFrame = spark
    .range(0, Rows, 1, 4)
    .selectExpr(s"id * 1009 % $Rows id", "concat(repeat('x', 90), id % 10) k")

  private val source =
    s"(select id * 1009 % $Rows id, concat(repeat('x', 90), id % 10) k from range(0, $Rows, 1, 4))"

  private def epoch(t: Target): Unit = {
    val directory = freshDirectory()
    addIds(directory, (0L until Rows).map(_ * 1009 % Rows))
    val ids = lines(directory, "id bigint").selectExpr("id", "concat(repeat('x', 90), id % 10) k")
    val stream = writer(ids, freshDirectory())
    run(if (t.place == "a path") stream.start(t.path) else stream.toTable(t.name))
  }

  /** Ways to write all rows of `data` to a table that is there and has no record. */
  private val ways: Seq[(String, Target => Unit)] = Seq(
    "INSERT" -> (t => sql(s"insert into ${t.name} select * from $source")),
    "INSERT of a list" -> (t => sql(s"insert into ${t.name} (k, id) select k, id from $source")),
    "INSERT OVERWRITE" -> (t => sql(s"insert overwrite ${t.name} select * from $source")),
    "writeTo append" -> (t => data.writeTo(t.name).append()),
    "writeTo overwrite" -> (t => data.writeTo(t.name).overwrite(lit(true))),
    "insertInto" -> (t => data.write.insertInto(t.name)),
    "MERGE" -> (t =>
      sql(s"merge into ${t.name} t using $source s on t.id = s.id when not matched then insert *")
    )
  )

  private def ofPath(way: String, t: Target): Boolean = t.place != "a path" || way != "insertInto"

  for (place <- places)
    test(s"each way of writing to $place obeys its compression, its size of shards and its order") {
      for ((way, write) <- chosen(ways)) {
        val plain = created(place)
        if (ofPath(way, plain)) {
          val t = created(
            place,
            "write.compression.k" -> "zstd:3",
            "write.shardBytes" -> "64k",
            "write.stripeBytes" -> "64k",
            "write.order" -> "id desc"
          )
          write(plain)
          write(t)
          val bytes = Seq(plain, t).map(_.shards.map(_.chunkBytes()).sum)
          assert(bytes(0) > Rows * 90L && bytes(1) < Rows * 30L, s"$way: $bytes")
          assert(t.ids.sorted == (0L until Rows), way)
          if (way != "MERGE") assert(t.ids == (0L until Rows).reverse, way)
          assert(plain.ids != t.ids, way)
        }
      }
    }

  for (place <- places)
    test(s"a table of $place that a query makes obeys the properties of the statement") {
      val t = target(place)
      val said = properties("write.order" -> "id", "write.compression" -> "zstd")
      sql(s"create table ${t.name} using zrecord ${t.location} $said as select * from $source")
      assert(t.ids == (0L until Rows))
      assert(t.shards.map(_.chunkBytes()).sum < Rows * 30L)
      if (place != "a session table") {
        sql(
          s"create or replace table ${t.name} using zrecord " +
            s"${properties("write.order" -> "id desc")} as select * from $source"
        )
        assert(t.ids == (0L until Rows).reverse)
        assert(t.shards.map(_.chunkBytes()).sum > Rows * 90L)
      }
    }

  for (place <- places)
    test(s"an epoch of a stream into $place obeys the properties, as they are then") {
      val t = created(place, "write.order" -> "id", "write.compression.k" -> "zstd")
      epoch(t)
      assert(t.ids == (0L until Rows))
      assert(t.shards.map(_.chunkBytes()).sum < Rows * 30L)
    }

  test(
    "a shard ends when it has enough bytes, in any number of tasks, with and without partitions"
  ) {
    for (partitioned <- Seq(false, true)) {
      val t = target("a name")
      val by = if (partitioned) "partitioned by (p)" else ""
      sql(
        s"create table ${t.name} (id bigint, v string, p bigint) using zrecord $by " +
          properties("write.shardBytes" -> "128k", "write.stripeBytes" -> "64k")
      )
      val rows = spark.range(0, 10000, 1, 1).selectExpr("id", "repeat('y', 92) v", "id div 5000 p")
      rows.writeTo(t.name).append()
      val bytes = t.shards.map(_.chunkBytes())
      // A shard has at most a stripe of each field more than it should, and the last the rest.
      assert(bytes.size >= 4 && bytes.forall(_ < (128 << 10) + 3 * (64 << 10)), bytes)
      assert(t.ids == (0L until 10000L))
      rows.writeTo(t.name).option("shardBytes", "1g").append()
      assert(t.shards.size - bytes.size == (if (partitioned) 2 else 1))
    }
  }

  test("an option of a write goes before the session, and the session before the property") {
    val t = created("a name")
    val said = properties("write.compression.k" -> "zstd", "write.order" -> "id desc")
    sql(s"alter table ${t.name} set $said")
    def appended(options: (String, String)*): (Long, Seq[Long]) = {
      val before = t.shards.map(_.chunkBytes()).sum
      val count = t.ids.size
      withOptionsOf(options: _*)
      (t.shards.map(_.chunkBytes()).sum - before, t.ids.drop(count))
    }
    def withOptionsOf(options: (String, String)*): Unit =
      options.foldLeft(data.writeTo(t.name))((w, o) => w.option(o._1, o._2)).append()
    assert(appended()._1 < Rows * 30L)
    val (raw, up) = appended("compression" -> "raw", "order" -> "id")
    assert(raw > Rows * 90L && up == (0L until Rows))
    spark.conf.set("spark.datasource.zrecord.compression", "raw")
    spark.conf.set("spark.datasource.zrecord.order", "id asc")
    try {
      val (ofSession, rows) = appended()
      assert(ofSession > Rows * 90L && rows == (0L until Rows))
      val (own, down) = appended("compression.k" -> "zstd", "order" -> "id desc")
      assert(own < Rows * 30L && down == (0L until Rows).reverse)
    } finally {
      spark.conf.unset("spark.datasource.zrecord.compression")
      spark.conf.unset("spark.datasource.zrecord.order")
    }
    sql(s"alter table ${t.name} unset tblproperties ('write.order', 'write.compression.k')")
    val (unset, asGiven) = appended()
    assert(unset > Rows * 90L && asGiven == data.collect().toSeq.map(_.getLong(0)))
  }

  test("rows of each partition are in the order, and ranges of all rows where they are asked for") {
    for (distribution <- Seq("", "none", "partition", "range")) {
      val t = target("a name")
      val said = Seq("write.order" -> "v desc nulls last, `the id`") ++
        Seq("write.distribution" -> distribution).filter(_._2.nonEmpty)
      sql(
        s"create table ${t.name} (`the id` bigint, v int, p bigint) using zrecord " +
          s"partitioned by (p) ${properties(said: _*)}"
      )
      spark
        .range(0, 4000, 1, 4)
        .selectExpr("id `the id`", "cast(if(id % 9 = 4, null, id * 31 % 50) as int) v", "id % 3 p")
        .writeTo(t.name)
        .append()
      val found = sql(s"select p, v, `the id`, _shard from ${t.name} order by _index")
      val expected = sql(
        s"select p, v, `the id` from ${t.name} order by p, v desc nulls last, `the id`"
      )
      val groups =
        if (distribution == "range") Seq(found) else found.groupBy(_.get(3)).values.toSeq
      for (rows <- groups) {
        val keys = rows.map(r => Row(r(0), r(1), r(2)))
        val among = keys.toSet
        assert(keys == expected.filter(among), distribution)
      }
      assert(found.map(_.getLong(0)) == found.map(_.getLong(0)).sorted, distribution)
    }
  }

  test("properties follow columns that are renamed, and a column of the order is not dropped") {
    val t = created("a name", "write.order" -> "K desc, id", "write.compression.K" -> "zstd")
    sql(s"alter table ${t.name} rename column k to `a k`")
    val shown =
      sql(s"show tblproperties ${t.name}").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(shown("write.order") == "`a k` desc nulls last, `id` asc nulls first")
    assert(shown.get("write.compression.a k").contains("zstd"))
    assert(!shown.contains("write.compression.K"))
    data.withColumnRenamed("k", "a k").writeTo(t.name).append()
    val keys = sql(s"select `a k`, id from ${t.name} order by _index")
    assert(keys == sql(s"select `a k`, id from ${t.name} order by `a k` desc, id"))
    val message = failure(sql(s"alter table ${t.name} drop column `a k`"))
    assert(message.contains("write.order") && message.contains("a k"), message)
    sql(s"alter table ${t.name} unset tblproperties ('write.order')")
    sql(s"alter table ${t.name} drop column `a k`")
    assert(!sql(s"show tblproperties ${t.name}").exists(_.getString(0).startsWith("write.")))
    sql(s"insert into ${t.name} values (7)")
  }

  test("what is no option, value or column is refused with words, and changes nothing") {
    val t = created("a name")
    val refused = Seq(
      ("write.format", "x") -> Seq("write.format", "shardBytes"),
      ("Write.order", "id") -> Seq("Write.order", "small letters"),
      ("write.txnAppId", "a") -> Seq("write.txnAppId"),
      ("write.shape.k", "3") -> Seq("write.shape.k"),
      ("write.unknownOptions", "ignore") -> Seq("write.unknownOptions"),
      ("write.order", "") -> Seq("order", "desc"),
      ("write.order", "id up") -> Seq("id up", "desc"),
      ("write.order", "id,") -> Seq("'id,'"),
      ("write.order", "id, ID desc") -> Seq("'ID'", "once"),
      ("write.order", "z") -> Seq("'z'", "id, k"),
      ("write.compression.z", "zstd") -> Seq("'z'", "id, k"),
      ("write.compression.k", "zip") -> Seq("zip", "zstd"),
      ("write.shardBytes", "12") -> Seq("12", "65536"),
      ("write.shardBytes", "big") -> Seq("big"),
      ("write.distribution", "hash") -> Seq("hash", "range"),
      ("write.stripeBytes", "-1") -> Seq("stripeBytes")
    )
    val version = tableAt(t.path).latest().version()
    for (((name, value), words) <- refused) {
      val message = failure(
        sql(s"alter table ${t.name} set tblproperties ('$name' = '$value')")
      )
      assert(words.forall(message.contains(_)), s"$name=$value: $message")
      val creation = failure(created("a name", name -> value))
      assert(creation.contains(name.drop(6)), s"$name=$value: $creation")
    }
    assert(tableAt(t.path).latest().version() == version)
    val range = failure(data.writeTo(t.name).option("distribution", "range").append())
    assert(range.contains("range") && range.contains("order"), range)
  }

  test("properties that another program set are obeyed or refused, and never ignored") {
    val t = created("a name")
    def declare(name: String, value: String): Unit =
      SchemaChange.of(tableAt(t.path).latest()).declare(d => d.set(name, value)).commit()
    declare("write.compression.k", "zstd")
    data.writeTo(t.name).append()
    assert(t.shards.map(_.chunkBytes()).sum < Rows * 30L)
    for (
      (name, value) <- Seq("write.order" -> "z", "write.newer" -> "1", "write.chunkBytes" -> "x")
    ) {
      declare(name, value)
      val message = failure(data.writeTo(t.name).append())
      assert(message.contains(name.drop(6)), message)
      sql(s"alter table ${t.name} unset tblproperties ('$name')")
    }
    data.writeTo(t.name).append()
    assert(t.ids.size == 2 * Rows)
  }

  test("a default of the session is for the tables that it fits, and checks no property") {
    spark.conf.set("spark.datasource.zrecord.order", "id desc")
    spark.conf.set("spark.datasource.zrecord.distribution", "range")
    try {
      val other = target("a name")
      sql(s"create table ${other.name} (x int) using zrecord")
      sql(s"insert into ${other.name} values (1), (2)")
      assert(sql(s"select count(*) from ${other.name}") == Seq(Row(2)))
      val t = created("a name", "write.compression" -> "zstd")
      val message = failure(sql(s"alter table ${t.name} set tblproperties ('write.order' = 'z')"))
      assert(message.contains("'z'"), message)
      sql(s"alter table ${other.name} set tblproperties ('write.compression' = 'zstd')")
      data.writeTo(t.name).append()
      assert(t.ids == (0L until Rows).reverse)
    } finally {
      spark.conf.unset("spark.datasource.zrecord.order")
      spark.conf.unset("spark.datasource.zrecord.distribution")
    }
  }

  test("in a session that tells columns apart by case, properties stay with their own column") {
    spark.conf.set("spark.sql.caseSensitive", "true")
    try {
      val t = target("a name")
      val said = properties("write.order" -> "a desc", "write.compression.a" -> "zstd")
      sql(s"create table ${t.name} (a int, A int) using zrecord $said")
      sql(s"alter table ${t.name} rename column A to b")
      sql(s"insert into ${t.name} values (1, 5), (2, 4), (3, 6)")
      assert(sql(s"select a from ${t.name} order by _index").map(_.getInt(0)) == Seq(3, 2, 1))
      sql(s"alter table ${t.name} drop column b")
      val shown = sql(s"show tblproperties ${t.name}").map(_.getString(0))
      assert(shown.contains("write.order") && shown.contains("write.compression.a"), shown)
    } finally spark.conf.unset("spark.sql.caseSensitive")
  }

  for (place <- Seq("a name", "a session table"))
    test(s"columns that a program adds to $place get the codec that the properties say") {
      val t = created(place, "write.compression" -> "zstd", "write.mergeSchema" -> "true")
      data.writeTo(t.name).append()
      val version = tableAt(t.path).latest().version()
      val values = spark.table(t.name).selectExpr("_index", "repeat('y', 90) e")
      Columns.of(spark, t.name).asOf(version).add(values, "e")
      assert(
        tableAt(t.path).latest().schema().fields().get(2).compression().toString.contains("zstd")
      )
    }

  test("the numbers of an identity follow the order of the table") {
    val t = target("a name")
    val identity = "n bigint generated always as identity"
    assume(spark.version >= "4.0", "Spark 3.5 has no word for an identity")
    sql(
      s"create table ${t.name} (id bigint, k string, $identity) using zrecord " +
        properties("write.order" -> "id desc, n")
    )
    sql(s"insert into ${t.name} (id, k) select * from $source")
    val found = sql(s"select id, n from ${t.name} order by _index")
    assert(found.map(_.getLong(0)) == (0L until Rows).reverse)
    assert(found.map(_.getLong(1)).distinct.size == Rows)
  }
}
