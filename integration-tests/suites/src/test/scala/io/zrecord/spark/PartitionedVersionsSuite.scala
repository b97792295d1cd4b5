package io.zrecord.spark

import org.apache.spark.sql.DataFrame

/** Reads of versions that are partitioned in another way than the newest one, by which Spark plans.
  */
class PartitionedVersionsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private val columns = "id bigint, a int, b int, c string"

  private def data(from: Long): DataFrame = spark
    .range(from, from + 60)
    .selectExpr(
      "id",
      "cast(id % 3 as int) a",
      "cast(if(id % 5 = 4, null, id % 5 + 7) as int) b",
      "concat('c', id % 4) c"
    )

  private def clause(partitions: Seq[String]): String =
    if (partitions.isEmpty) "" else partitions.mkString("partitioned by (", ", ", ")")

  private val partitionings =
    Seq(Nil, Seq("a"), Seq("b"), Seq("a", "b"), Seq("b", "a"), Seq("c", "b"))

  private val conditions = Seq(
    "b % 2 = 1",
    "a % 2 = 1",
    "a * 2 = b - 7",
    "length(c) = 2 and substr(c, 2) = '3'",
    "coalesce(b, 1) % 2 = 1",
    "cast(b as string) in ('8', '10') or c = 'c1'",
    "b = 8 and pmod(a, 2) = 1"
  )

  private def idsOf(found: DataFrame): Seq[Long] =
    found.select("id").collect().map(_.getLong(0)).toSeq.sorted

  /** Reads records that are tagged, of a table whose later records are partitioned otherwise. */
  private def check(before: Seq[String], after: Seq[String]): Unit = {
    val name = freshTable()
    val t = s"lake.$name"
    spark.sql(s"create table $t ($columns) ${clause(before)}")
    data(0).writeTo(t).append()
    val table = tableAt(s"$warehouse/$name")
    val version = table.latest().version()
    table.tag(version, "x")
    data(1000).createOrReplaceTempView("later")
    spark.sql(s"create or replace table $t ${clause(after)} as select * from later")
    for (where <- conditions) {
      val expected = idsOf(data(0).where(where))
      assert(expected.nonEmpty, where)
      val ways = Seq(
        "tag" -> spark.read.option("tag", "x").table(t),
        "versionAsOf" -> spark.read.option("versionAsOf", version.toString).table(t),
        "VERSION AS OF" -> spark.sql(s"select * from $t version as of 'x'")
      ) ++
        (if (spark.version < "4.0") Nil
         else Seq("WITH" -> spark.sql(s"select * from $t with ('tag' = 'x')")))
      for ((way, found) <- ways)
        assert(idsOf(found.where(where)) == expected, (before, after, way, where))
      assert(idsOf(spark.table(t).where(where)) == idsOf(data(1000).where(where)), where)
    }
  }

  test("an older version that is partitioned by another column is read as it was") {
    check(Seq("a"), Seq("b"))
  }

  test("an older version that is partitioned by the same columns in turn is read as it was") {
    check(Seq("a", "b"), Seq("b", "a"))
  }

  test("older versions are read whatever the partitions were and are") {
    val pairs = for (b <- partitionings; a <- partitionings if a != b) yield (b, a)
    chosen(pairs).foreach { case (before, after) => check(before, after) }
  }
}
