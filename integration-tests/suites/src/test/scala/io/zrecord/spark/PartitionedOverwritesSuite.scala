package io.zrecord.spark

import java.util.{List => JList, UUID}
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._

import io.zrecord.schema.Identity
import io.zrecord.shard.WriteOptions
import io.zrecord.table.{DeclarationChange, RecordTable, RowChange, TableChange, TableSnapshot}
import io.zrecord.table.write.ShardWriter
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, udf}

/** Overwrites of some partitions: a table of ways, with what each of them promises. */
class PartitionedOverwritesSuite extends SparkSuite {
  private lazy val warehouse = freshPath()
  private val Mode = "spark.sql.sources.partitionOverwriteMode"

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private case class Target(name: String, path: String)

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private def dynamic[A](action: => A): A = {
    spark.conf.set(Mode, "dynamic")
    try action
    finally spark.conf.unset(Mode)
  }

  /** Makes a table of 12 rows in the partitions k0, k1, k2 and null. */
  private def fill(name: String, path: String): Target = {
    sql(
      s"insert into $name select id, if(id % 4 = 3, null, concat('k', id % 4)), " +
        "cast(id as int) from range(0, 12)"
    )
    Target(name, path)
  }

  private def named(properties: String = ""): Target = {
    val table = freshTable()
    sql(
      s"create table lake.$table (id bigint, a string, b int) partitioned by (a) $properties"
    )
    fill(s"lake.$table", s"$warehouse/$table")
  }

  private def targets: Seq[(String, Target)] = {
    val path = freshPath()
    val table = freshTable()
    val columns = "(id bigint, a string, b int)"
    sql(s"create table zrecord.`$path` $columns partitioned by (a)")
    val place = freshPath()
    sql(s"create table $table $columns using zrecord partitioned by (a) location '$place'")
    Seq(
      "a name" -> named(),
      "a path" -> fill(s"zrecord.`$path`", path),
      "a session table" -> fill(table, place)
    )
  }

  private def snapshot(target: Target): TableSnapshot = tableAt(target.path).latest()

  private def shardsOf(target: Target, partition: String => Boolean): Set[UUID] =
    snapshot(target)
      .shards()
      .asScala
      .filter(shard => partition(shard.partition().get(0)))
      .map(_.id())
      .toSet

  private def ids(target: Target, where: String = "true"): Seq[Long] =
    sql(s"select id from ${target.name} where $where order by id").map(_.getLong(0))

  /** Two rows of the partition k1. */
  private def news: DataFrame = spark.range(100, 102).selectExpr("id", "'k1' a", "7 b")

  private val Others = Seq(0L, 2L, 3L, 4L, 6L, 7L, 8L, 10L, 11L)

  private val ways: Seq[(String, (Target, DataFrame) => Unit)] = Seq(
    "INSERT OVERWRITE PARTITION" -> { (t, d) =>
      d.createOrReplaceTempView("news")
      sql(s"insert overwrite ${t.name} partition (a = 'k1') select id, b from news")
    },
    "REPLACE WHERE" -> { (t, d) =>
      d.createOrReplaceTempView("news")
      sql(s"insert into ${t.name} replace where a = 'k1' select * from news")
    },
    "overwrite(condition)" -> ((t, d) => d.writeTo(t.name).overwrite(col("a") === "k1")),
    "overwritePartitions" -> ((t, d) => d.writeTo(t.name).overwritePartitions()),
    "a dynamic INSERT OVERWRITE" -> { (t, d) =>
      d.createOrReplaceTempView("news")
      dynamic(sql(s"insert overwrite ${t.name} select * from news"))
    },
    "a dynamic INSERT OVERWRITE PARTITION" -> { (t, d) =>
      d.createOrReplaceTempView("news")
      dynamic(sql(s"insert overwrite ${t.name} partition (a) select id, a, b from news"))
    },
    "a dynamic insertInto" -> { (t, d) =>
      dynamic(d.write.mode("overwrite").insertInto(t.name))
    }
  )

  for ((way, overwrite) <- ways)
    test(s"$way replaces the shards of the partition in one version, and keeps the others") {
      for ((what, t) <- targets) {
        val others = shardsOf(t, _ != "k1")
        val before = shardsOf(t, _ == "k1")
        val version = snapshot(t).version()
        overwrite(t, news)
        assert(ids(t) == Others ++ Seq(100L, 101L), what)
        assert(ids(t, "a = 'k1'") == Seq(100L, 101L), what)
        assert(shardsOf(t, _ != "k1") == others && shardsOf(t, _ == "k1") != before, what)
        assert(snapshot(t).version() == version + 1 && snapshot(t).operation() == "merge", what)
        assert(
          sql(s"select id from ${t.name} order by _index").map(_.getLong(0)).takeRight(2) ==
            Seq(100L, 101L)
        )
        overwrite(t, news.where("false"))
        val isDynamic = way.contains("dynamic") || way == "overwritePartitions"
        assert(ids(t, "a = 'k1'") == (if (isDynamic) Seq(100L, 101L) else Nil), what)
        assert(shardsOf(t, _ != "k1") == others, what)
      }
    }

  test("static overwrites replace everything where the mode is static") {
    val t = named()
    news.createOrReplaceTempView("news")
    sql(s"insert overwrite ${t.name} partition (a) select id, a, b from news")
    assert(ids(t) == Seq(100L, 101L) && snapshot(t).operation() == "overwrite")
    assert(snapshot(t).partitionFields().size() == 1)
  }

  test("INSERT OVERWRITE PARTITION without rows empties the partition where the mode is static") {
    for (mode <- Seq("static", "dynamic")) {
      val t = named()
      val partition = ids(t, "a = 'k1'")
      val overwrite =
        s"insert overwrite ${t.name} partition (a = 'k1') select id, 1 from range(0)"
      spark.conf.set(Mode, mode)
      try sql(overwrite)
      finally spark.conf.unset(Mode)
      assert(ids(t, "a = 'k1'") == (if (mode == "static") Nil else partition), mode)
      assert(ids(t, "a <> 'k1' or a is null") == Others, mode)
    }
  }

  test("some partition columns with values, others without, go by the mode") {
    for (mode <- Seq("static", "dynamic")) {
      val table = freshTable()
      sql(s"create table lake.$table (id bigint, a int, b int) partitioned by (a, b)")
      sql(s"insert into lake.$table values (1, 1, 1), (2, 1, 2), (3, 2, 1)")
      spark.conf.set(Mode, mode)
      try sql(s"insert overwrite lake.$table partition (a = 1, b) select 4, 2")
      finally spark.conf.unset(Mode)
      val expected = if (mode == "static") Seq(3L, 4L) else Seq(1L, 3L, 4L)
      assert(sql(s"select id from lake.$table order by id").map(_.getLong(0)) == expected, mode)
    }
  }

  test("REPLACE WHERE without rows empties the partition in every mode") {
    for (mode <- Seq("static", "dynamic")) {
      val t = named()
      spark.conf.set(Mode, mode)
      try
        sql(s"insert into ${t.name} replace where a = 'k1' select id, 'k1', 1 from range(0)")
      finally spark.conf.unset(Mode)
      assert(ids(t) == Others, mode)
    }
  }

  test("a dynamic overwrite replaces each partition that it has rows of, null as well") {
    val t = named()
    val rows = spark
      .range(100, 103)
      .selectExpr("id", "element_at(array('k2', null, 'new'), cast(id - 99 as int)) a", "1 b")
    rows.writeTo(t.name).overwritePartitions()
    assert(ids(t, "a = 'k2'") == Seq(100L) && ids(t, "a is null") == Seq(101L))
    assert(ids(t, "a = 'new'") == Seq(102L))
    assert(ids(t, "a in ('k0', 'k1')") == Seq(0L, 1L, 4L, 5L, 8L, 9L))
  }

  test("conditions on partition columns of all kinds choose what is replaced") {
    val kept = Seq(
      "a <> 'k0'" -> "a is null or a = 'k0'",
      "a is null" -> "a is not null",
      "a <=> 'k1'" -> "not a <=> 'k1'",
      "a in ('k0', 'k2')" -> "a is null or a = 'k1'",
      "a > 'k0' and a < 'k2'" -> "a is null or a <> 'k1'",
      "a = 'k0' or a is null" -> "a in ('k1', 'k2')",
      "not (a = 'k0')" -> "a is null or a = 'k0'",
      "a like 'k%'" -> "a is null",
      "a = 'nothing'" -> "true",
      "true" -> "false"
    )
    for ((condition, stays) <- kept) {
      val t = named()
      val expected = ids(t, stays)
      sql(s"insert into ${t.name} replace where $condition select 100, 'x', 1")
      assert(ids(t) == expected ++ Seq(100L), condition)
    }
  }

  test("a write of partitions cannot add columns, and nothing is changed") {
    val t = named()
    val version = snapshot(t).version()
    val added =
      failure(
        news
          .selectExpr("*", "1 c")
          .writeTo(t.name)
          .option("mergeSchema", "true")
          .overwritePartitions()
      )
    assert(added.contains("c"), added)
    assert(snapshot(t).version() == version)
  }

  /** Returns what commits a row of a partition, as another program would. A task may call it. */
  private def append(target: Target, id: Long, partition: String): () => Unit = {
    val table = tableAt(target.path)
    () => append(table, id, partition)
  }

  private def append(table: RecordTable, id: Long, partition: String): Unit = {
    val base = table.latest()
    val shard = ShardWriter.create(
      table.storage(),
      UUID.randomUUID(),
      base.schema(),
      WriteOptions.defaults(),
      JList.of(base.schema().find("a").get.id()),
      JList.of(partition)
    )
    shard.putLong(0, id)
    val bytes = partition.getBytes("UTF-8")
    shard.put(1, bytes, 0, bytes.length)
    shard.putInt(2, 0)
    shard.endRecord()
    val shards = JList.of(shard.finish().get)
    shard.close()
    table.commit(
      TableChange.of(TableChange.Kind.APPEND, base.schema()).base(base).shards(shards).build()
    )
  }

  /** Rows of k1, which begin when another program has committed something. */
  private def newsAfter(between: () => Unit): DataFrame = {
    val key = PartitionedOverwritesSuite.register(between)
    val runs =
      udf((id: Long) => { PartitionedOverwritesSuite.runOnce(key); id }).asNondeterministic()
    news.select(runs(col("id")).as("id"), col("a"), col("b"))
  }

  for ((way, overwrite) <- Seq(ways(2), ways(3)))
    test(s"$way conflicts with an append to its partition, and as the isolation says with others") {
      val snapshotIsolated = named("tblproperties ('zrecord.isolation' = 'snapshot')")
      overwrite(snapshotIsolated, newsAfter(append(snapshotIsolated, 50, "k2")))
      assert(ids(snapshotIsolated) == Others ++ Seq(50L, 100L, 101L))
      for (t <- Seq(snapshotIsolated, named()); partition <- Seq("k1", "k2")) {
        val isConflict = partition == "k1" || t != snapshotIsolated
        if (isConflict) {
          val before = ids(t)
          val message = failure(overwrite(t, newsAfter(append(t, 60, partition))))
          assert(message.contains("Cannot commit the merge"), message)
          assert(ids(t) == (before ++ Seq(60L)).sorted)
        }
      }
    }

  test("an overwrite of a partition with what an older version had is refused") {
    val t = named()
    val old = read(t.path, "versionAsOf" -> "1").dropDuplicates()
    news.writeTo(t.name).append()
    for (
      way <- Seq[() => Unit](
        () => old.writeTo(t.name).overwritePartitions(),
        () => old.writeTo(t.name).overwrite(col("a") === "k1")
      )
    ) {
      val message = failure(way())
      assert(message.contains("reads version 1"), message)
    }
    assert(ids(t).size == 14)
  }

  test("transactions and expected versions hold for overwrites of partitions") {
    val t = named()
    for (_ <- 1 to 2)
      news
        .writeTo(t.name)
        .option("txnAppId", "job")
        .option("txnVersion", "1")
        .overwritePartitions()
    val version = snapshot(t).version()
    assert(version == 2)
    val message =
      failure(news.writeTo(t.name).option("expectedVersion", "1").overwritePartitions())
    assert(message.contains("version 1 was expected"), message)
    news.writeTo(t.name).option("expectedVersion", version.toString).overwritePartitions()
    assert(snapshot(t).version() == version + 1)
  }

  test("a partition with deleted records, defaults and identities is replaced") {
    val table = freshTable()
    sql(
      s"create table lake.$table (id bigint not null, a string, b int default 5) partitioned by (a)"
    )
    val t = fill(s"lake.$table", s"$warehouse/$table")
    val change = RowChange.of(snapshot(t))
    change.delete(sql(s"select _index from ${t.name} where a = 'k1'").head.getLong(0))
    change.commit()
    DeclarationChange.of(snapshot(t)).add(Identity.always(1, 1000, 1)).commit()
    sql(s"insert overwrite ${t.name} partition (a = 'k1') values (null, default)")
    assert(sql(s"select id, b from ${t.name} where a = 'k1'") == Seq(Row(1000L, 5)))
    assert(ids(t).size == 10)
  }
}

object PartitionedOverwritesSuite {
  private val actions = new java.util.concurrent.ConcurrentHashMap[String, () => Unit]()

  def register(action: () => Unit): String = {
    val key = UUID.randomUUID().toString
    val isDone = new AtomicBoolean()
    actions.put(key, () => if (isDone.compareAndSet(false, true)) action())
    key
  }

  def runOnce(key: String): Unit = actions.get(key)()
}
