package io.zrecord.spark

import io.zrecord.read.IndexSet
import io.zrecord.table.RowChange
import org.apache.spark.sql.{DataFrame, Row}

/** Columns that are added or get other values from a data frame, by indices and by keys. */
class ColumnsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** A table of 4 shards of 50 records. */
  private class Table(columns: String = "id, cast(id % 10 as int) label") {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"
    sql(s"create table $name as select $columns from range(0)")
    for (part <- 0 until 4)
      sql(
        s"insert into $name select /*+ coalesce(1) */ $columns from range(${part * 50}, ${part * 50 + 50}, 1, 1)"
      )
    def version: Long = tableAt(path).latest().version()
    def columnsOf: Seq[String] = spark.table(name).columns.toSeq
    def rows(what: String): Seq[Row] = sql(s"select $what from $name order by _index")
    def to(name: String = path): Columns = Columns.of(spark, name)
  }

  private def frame(text: String): DataFrame = spark.sql(text)

  for (place <- Seq("a name", "a path", "a session's table"))
    test(s"a column is added with values by index, as one version, at $place") {
      val t = new Table
      val named = place match {
        case "a name" => t.name
        case "a path" => t.path
        case _ =>
          val inSession = freshTable()
          sql(s"create table $inSession using zrecord location '${t.path}'")
          inSession
      }
      val before = t.version
      val values = frame(
        "select id as _index, array(cast(id as float), 1f) as embedding, concat('t', id) text" +
          " from range(200) where id % 3 <> 1 and id < 120"
      )
      val after = t
        .to(named)
        .asOf(before)
        .option("compression.text", "zstd")
        .add(
          values,
          "embedding",
          "text"
        )
      assert(after.version() == before + 1 && t.version == before + 1)
      assert(t.columnsOf == Seq("id", "label", "embedding", "text"))
      val expected = (0 until 200).map { i =>
        if (i % 3 != 1 && i < 120) Row(i.toLong, i % 10, Seq(i.toFloat, 1f), s"t$i")
        else Row(i.toLong, i % 10, null, null)
      }
      assert(t.rows("id, label, embedding, text") == expected)
      assert(sql(s"select * from ${t.name} version as of $before").head.length == 2)
      assert(after.schema().fields().get(3).compression().toString.contains("zstd"))
    }

  test("records get other values by index and by key, and others keep theirs") {
    val t = new Table("id, cast(id % 10 as int) label, concat('n', id) name")
    val before = t.version
    t.to()
      .asOf(before)
      .update(
        frame("select cast(id as int) _index, 100 label from range(30, 60)"),
        "label"
      )
    assert(t.version == before + 1)
    def label(i: Int) = if (i >= 30 && i < 60) 100 else i % 10
    assert(t.rows("label, name") == (0 until 200).map(i => Row(label(i), s"n$i")))
    t.to(t.name)
      .by("name")
      .update(
        frame("select 'n7' name, 7000 label union all select 'nobody', 1"),
        "LABEL"
      )
    assert(t.version == before + 2)
    assert(
      t.rows("label").zipWithIndex.collect { case (Row(l: Int), i) if l == 7000 => i } == Seq(7)
    )
    t.to()
      .by("id", "name")
      .update(
        frame("select 8L id, 'n8' name, 8000 label union all select 9L, 'n8', 9000"),
        "label"
      )
    assert(t.rows("label").map(_.getInt(0)).count(_ >= 8000) == 1)
    t.to().by("name").add(frame("select name, id * 2 twice from " + t.name), "twice")
    assert(t.rows("twice").map(_.getLong(0)) == (0L until 200L).map(_ * 2))
  }

  test("what came since the version of the rows stays, and records keep their places") {
    val t = new Table
    val read = t.version
    sql(s"insert into ${t.name} select id, 5 from range(200, 210)")
    Rebalance.of(spark, t.path).run()
    sql(s"delete from ${t.name} where id < 10")
    t.to()
      .asOf(read)
      .update(
        frame("select id as _index, 100 label from range(100, 110)"),
        "label"
      )
    val rows = t.rows("id, label").map(r => r.getLong(0) -> r.getInt(1))
    assert(rows.filter(_._2 == 100).map(_._1) == (100L until 110L))
    assert(rows.map(_._1) == (10L until 210L))
    t.to().asOf(t.version).add(frame("select 0L as _index, 1 as first"), "first")
    assert(t.rows("first").map(_.isNullAt(0)) == false +: Seq.fill(199)(true))
  }

  test("a record that was changed or deleted since is a conflict, and nothing has changed") {
    val t = new Table
    val read = t.version
    val change = RowChange.of(tableAt(t.path).latest())
    change.delete(IndexSet.range(5, 6))
    change.commit()
    val (version, files) = (t.version, filesOf(t.path).names)
    val values = frame("select id as _index, 100 label from range(0, 10)")
    assert(failure(t.to().asOf(read).update(values, "label")).contains("onflict"))
    sql(s"alter table ${t.name} add column other int")
    assert(
      failure(t.to().asOf(read).add(values.withColumnRenamed("label", "more"), "more"))
        .contains("onflict")
    )
    assert(t.version == version + 1 && t.rows("label").forall(_.getInt(0) < 100))
    assert(
      filesOf(t.path).names.filter(_.startsWith("shard")) == files.filter(_.startsWith("shard"))
    )
  }

  test("rows that do not say which record they are of are refused, and nothing is left") {
    val t = new Table
    val (version, files) = (t.version, filesOf(t.path).names)
    def refused(words: String)(action: => Any): Unit = {
      val message = failure(action)
      assert(message.contains(words), message)
    }
    val good = frame("select id as _index, 1 label from range(3)")
    refused("asOf")(t.to().update(good, "label"))
    refused("need a column _index")(t.to().asOf(version).update(good.drop("_index"), "label"))
    refused("0 to 199")(
      t.to().asOf(version).update(frame("select 200L as _index, 1 label"), "label")
    )
    refused("_index null")(
      t.to().asOf(version).update(frame("select cast(null as bigint) as _index, 1 label"), "label")
    )
    for (action <- Seq("add", "update")) {
      val twice = frame("select id div 2 as _index, 1 label, 2 more from range(100)")
      refused("Two rows have the _index 0")(
        if (action == "add") t.to().asOf(version).add(twice, "more")
        else t.to().asOf(version).update(twice, "label")
      )
    }
    refused("no column 'labels'")(t.to().asOf(version).update(good, "labels"))
    refused("label")(t.to().asOf(version).add(good, "label"))
    refused("at least one")(t.to().asOf(version).add(good))
    refused("noSuch")(t.to().asOf(version).option("noSuch", "1").update(good, "label"))
    refused("TABLE_OR_VIEW_NOT_FOUND")(Columns.of(spark, "lake.nothing"))
    good.createOrReplaceTempView("no_table")
    spark.table(t.name).where("id < 5").createOrReplaceTempView("some_records")
    for (view <- Seq("no_table", "some_records"))
      refused("no table of zrecord, or a view")(Columns.of(spark, view))
    refused("txnAppId")(
      t.to()
        .asOf(version)
        .option("expectedVersion", "0")
        .add(
          good.withColumnRenamed("label", "more"),
          "more"
        )
    )
    refused("it has the column 'label'")(
      t.to().asOf(version).add(good.withColumnRenamed("label", "Label"), "Label")
    )
    assert(t.version == version)
    assert(eventually(filesOf(t.path).names == files))
  }

  test("what the table declares holds") {
    val table = freshTable()
    val path = s"$warehouse/$table"
    sql(
      s"create table lake.$table (id bigint, label int not null, kind string) partitioned by (kind)"
    )
    sql(s"insert into lake.$table select id, 1, 'a' from range(10)")
    val version = tableAt(path).latest().version()
    val to = Columns.of(spark, s"lake.$table").asOf(version)
    withClue("NULL")(
      assert(
        failure(to.update(frame("select 0L as _index, cast(null as int) label"), "label"))
          .contains("NOT NULL")
      )
    )
    withClue("partition")(
      assert(failure(to.update(frame("select 0L as _index, 'b' kind"), "kind")).contains("MERGE"))
    )
    withClue("type")(
      assert(failure(to.update(frame("select 0L as _index, 'x' label"), "label")).contains("utf8"))
    )
    withClue("wider")(
      assert(failure(to.update(frame("select 0L as _index, 1L label"), "label")).contains("i64"))
    )
    assert(tableAt(path).latest().version() == version)
    to.update(frame("select 0L as _index, cast(7 as smallint) label"), "label")
    assert(sql(s"select label from lake.$table where _index = 0") == Seq(Row(7)))
  }

  testLocally("no other column is read or written") {
    val t = new Table("id, 0 label, cast(repeat('Z', 65536) as binary) image")
    val files = filesOf(t.path)
    for (chunk <- files.names.filter(_.endsWith(".zr")))
      files.change(chunk) { bytes =>
        for (i <- 1 until bytes.length if bytes(i) == 'Z' && bytes(i - 1) == 'Z') bytes(i) = 'Y'
        bytes
      }
    assert(failure(t.rows("hash(image)")) != null, "the control")
    def bytes = files.names.toSeq.map(files.bytes(_).length.toLong).sum
    val before = bytes
    t.to().asOf(t.version).update(frame("select id as _index, 3 label from range(200)"), "label")
    t.to().by("id").add(frame("select id, cast(id as double) score from range(200)"), "score")
    assert(bytes - before < 65536)
    assert(t.rows("label, score") == (0 until 200).map(i => Row(3, i.toDouble)))
  }

  test("a failed task leaves nothing, and is tried again") {
    val t = new Table
    val (version, files) = (t.version, filesOf(t.path).names)
    val failing = org.apache.spark.sql.functions.udf { (id: Long) =>
      if (id == 150) throw new IllegalStateException("record 150 fails")
      id
    }
    val values = spark
      .range(200)
      .toDF("_index")
      .withColumn(
        "v",
        failing(
          org.apache.spark.sql.functions.col("_index")
        )
      )
    assert(failure(t.to().asOf(version).add(values, "v")).contains("record 150 fails"))
    assert(
      failure(t.to().asOf(version).update(values.withColumnRenamed("v", "id"), "id"))
        .contains("record 150 fails")
    )
    assert(t.version == version)
    assert(eventually(filesOf(t.path).names == files))
    assert(
      Columns
        .of(spark, t.path)
        .asOf(version)
        .update(
          frame("select id as _index, 1 label from range(0)"),
          "label"
        )
        .version() == version
    )
  }
}
