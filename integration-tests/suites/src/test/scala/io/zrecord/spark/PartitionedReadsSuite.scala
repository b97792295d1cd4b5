package io.zrecord.spark

import scala.util.Random

import io.zrecord.table.RowChange
import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{broadcast, col}

/** What conditions on partition columns save, and that they select what they say. */
class PartitionedReadsSuite extends SparkSuite {
  private val Texts = Seq(null, "", "a", "aa", "b%", "\u00e4", "\ud83d\ude00")

  /** Three appends of rows in partitions of a text and a number, both of which may be null. */
  private def rowsOf(append: Int): DataFrame = {
    val text = Texts.map(t => if (t == null) "null" else s"'$t'").mkString("array(", ", ", ")")
    spark
      .range(append * 200L, append * 200L + 200, 1, 2)
      .selectExpr(
        "id",
        s"element_at($text, cast(id % ${Texts.size} as int) + 1) p",
        "cast(if(id % 4 = 3, null, id % 4 - 1) as int) q"
      )
  }

  private def make(path: String): String = {
    rowsOf(0).write.format("zrecord").partitionBy("p", "q").save(path)
    (1 to 2).foreach(i => write(rowsOf(i), path, "append"))
    path
  }

  private lazy val path = make(freshPath())

  /** The same rows in Spark's memory, with the index as a column. */
  private lazy val inMemory: DataFrame = {
    val all = read(path).select("id", "p", "q", "_index").collect()
    spark.createDataFrame(
      java.util.Arrays.asList(all: _*),
      read(path).select("id", "p", "q", "_index").schema
    )
  }

  private def metrics(query: DataFrame): Map[String, Long] = {
    query.collect()
    ScanPlans.metrics(query)
  }

  private def condition(random: Random, depth: Int): String = {
    def text = {
      val t = Texts(random.nextInt(Texts.size))
      if (t == null) "cast(null as string)" else s"'$t'"
    }
    def number = if (random.nextInt(6) == 0) "cast(null as int)" else s"${random.nextInt(5) - 2}"
    def operator = Seq("=", "<=>", "<>", "<", "<=", ">", ">=")(random.nextInt(7))
    if (depth > 0 && random.nextInt(3) > 0) {
      val left = condition(random, depth - 1)
      random.nextInt(3) match {
        case 0 => s"($left and ${condition(random, depth - 1)})"
        case 1 => s"($left or ${condition(random, depth - 1)})"
        case _ => s"(not $left)"
      }
    } else
      random.nextInt(11) match {
        case 0 => s"p $operator $text"
        case 1 => s"q $operator $number"
        case 2 => s"$number $operator q"
        case 3 => s"p in ($text, $text, $text)"
        case 4 => s"q not in ($number, $number)"
        case 5 => s"p is ${if (random.nextBoolean()) "not " else ""}null"
        case 6 => s"p like '${Seq("a%", "%a", "%%a%")(random.nextInt(3))}'"
        case 7 => s"id < ${random.nextInt(600)}"
        case 8 => s"_index between ${random.nextInt(300)} and ${random.nextInt(600)}"
        case 9 => s"length(p) = ${random.nextInt(3)}"
        case _ => "p = cast(q as string)"
      }
  }

  test(s"random conditions select what they say (seed ${Budget.seed})") {
    val random = new Random(Budget.seed)
    for (round <- 1 to Budget.of(60)) {
      val where = condition(random, 3)
      val expected = inMemory.where(where).collect().toSeq
      val found = read(path).where(where).select("id", "p", "q", "_index")
      assert(found.orderBy("_index").collect().toSeq == expected, s"round $round: $where")
      assert(read(path).where(where).count() == expected.size, where)
      val few =
        read(path).where(where).select("id", "p", "q", "_index").offset(2).limit(5).collect()
      assert(few.length == math.min(5, math.max(0, expected.size - 2)), where)
      assert(few.toSet.subsetOf(expected.toSet), where)
    }
  }

  test("shards of other partitions are not planned, and conditions on values go with that") {
    val all = metrics(read(path))("shardsPlanned")
    val one = metrics(read(path).where("p = 'aa' and q = 1"))
    assert(one("shardsPlanned") == 3 && all > 60, (one, all))
    assert(one("records") == read(path).where("p = 'aa' and q = 1").count())
    val mixed =
      metrics(read(path).where("(p = 'aa' and q = 1 and id > 5) or (p = 'a' and id < 3)"))
    assert(mixed("shardsPlanned") < all / 3, (mixed, all))
    assert(metrics(read(path).where("p is null"))("shardsPlanned") < all / 3)
    val none = read(path).where("p = 'of no partition'")
    assert(metrics(none)("shardsPlanned") == 0)
    assert(none.rdd.getNumPartitions == 0)
  }

  test("what partitions decide needs no filter in Spark, so limits and counts are exact") {
    val query = read(path).where("p = 'aa' and _index > 10")
    assert(!query.queryExecution.executedPlan.toString.contains("Filter "))
    val count = query.groupBy().count()
    assert(!count.queryExecution.executedPlan.toString.contains("BatchScan"))
    val expected = inMemory.where("p = 'aa' and _index > 10").collect().toSeq
    assert(count.first().getLong(0) == expected.size)
    val some = query.select("id", "p", "q", "_index").offset(3).limit(4)
    assert(some.collect().toSeq == expected.slice(3, 7))
    assert(metrics(some)("records") == 4)
  }

  test("records are counted by partition from the metadata, with every condition that is exact") {
    def counted(from: DataFrame, where: String, by: String*): DataFrame =
      from.where(where).groupBy(by.map(col): _*).count()
    def sorted(counts: DataFrame): Seq[String] = counts.collect().map(_.toString).toSeq.sorted
    for (
      where <- Seq("true", "p = 'aa'", "_index between 77 and 411", "q is null", "p = 'x'");
      by <- Seq(Seq("p"), Seq("q"), Seq("q", "p"))
    ) {
      val counts = counted(read(path), where, by: _*)
      assert(sorted(counts) == sorted(counted(inMemory, where, by: _*)), (where, by))
      assert(!counts.queryExecution.executedPlan.toString.contains("BatchScan"), (where, by))
    }
    val counts = counted(read(path), "id > 100", "p")
    assert(sorted(counts) == sorted(counted(inMemory, "id > 100", "p")))
    val renamed = read(path).selectExpr("q x", "p").groupBy("x", "p").count().where("count > 5")
    assert(
      sorted(renamed) ==
        sorted(inMemory.selectExpr("q x", "p").groupBy("x", "p").count().where("count > 5"))
    )
    assert(sorted(read(path).select("p").distinct()) == sorted(inMemory.select("p").distinct()))
    assert(sorted(read(path).groupBy("p", "id").count()).size == 600)
  }

  test("a sample of records is the same with and without a condition on partitions") {
    read(path).createOrReplaceTempView("parts")
    val sample = "(select *, _index i from parts tablesample (40 percent) repeatable (7))"
    val view = read(path).select("*", "_index")
    view.createOrReplaceTempView("parts")
    def sampled(where: String): Set[Long] = spark
      .sql(
        s"select _index from (select * from parts tablesample (40 percent) repeatable (7)) $where"
      )
      .collect()
      .map(_.getLong(0))
      .toSet
    val aa = inMemory.where("p = 'aa'").select("_index").collect().map(_.getLong(0)).toSet
    assert(sample.nonEmpty && sampled("where p = 'aa'") == sampled("").intersect(aa))
    assert(sampled("").size > 150)
  }

  test("any expression of partition columns saves shards where Spark offers it") {
    val where = "length(p) = 2 and cast(q as string) in ('0', '1')"
    val query = read(path).where(where)
    assert(query.count() == inMemory.where(where).count())
    val planned = metrics(query)("shardsPlanned")
    val all = metrics(read(path))("shardsPlanned")
    assert(if (spark.version >= "4.2") planned < all / 3 else planned <= all, planned)
  }

  test("a constant of the column's type is decided by partitions, and a cast column by Spark") {
    val numbers = freshPath()
    spark
      .range(12)
      .selectExpr("id", "cast(id % 4 as string) code")
      .write
      .format("zrecord")
      .partitionBy("code")
      .save(numbers)
    def check(where: String, isDecided: Boolean, savesShards: Boolean): Unit = {
      val query = read(numbers).where(where)
      val count = query.groupBy().count()
      assert(count.queryExecution.executedPlan.toString.contains("BatchScan") != isDecided, where)
      assert(query.select("id").collect().map(_.getLong(0)).toSet == Set(2L, 6L, 10L), where)
      assert(
        (metrics(query)("shardsPlanned") < metrics(read(numbers))("shardsPlanned")) ==
          savesShards,
        where
      )
    }
    val isNew = spark.version >= "4.2"
    check("code = '2'", isDecided = true, savesShards = true)
    check("code = 2", isDecided = false, savesShards = isNew)
    check("cast(code as int) in (2, 9)", isDecided = false, savesShards = isNew)
  }

  test("a join that turns out to need many keys reads the partitions of these only") {
    val keys = spark.range(20000).selectExpr("cast(id as int) k", "id x").where("x <> 0")
    val query = read(path).join(broadcast(keys), col("q") === col("k"))
    assert(query.collect().length == inMemory.where("q > 0").count())
    assert(ScanPlans.metrics(query)("shardsPlanned") < metrics(read(path))("shardsPlanned"))
  }

  test("a join that turns out to need few partitions reads these only") {
    val few = spark.range(100).selectExpr("cast(id as int) k", "id x").where("x = 1")
    val query = read(path).join(broadcast(few), col("q") === col("k"))
    assert(query.collect().length == inMemory.where("q = 1").count())
    assert(ScanPlans.metrics(query)("shardsPlanned") < metrics(read(path))("shardsPlanned") / 2)
  }

  test("deleted and changed records are read by partition, and shards of others are not") {
    val changed = make(freshPath())
    val table = tableAt(changed)
    val indices = read(changed).where("p = 'aa'").select("_index").collect().map(_.getLong(0))
    val change = RowChange.of(table.latest())
    change.delete(indices(0))
    change.delete(indices(5))
    change.commit()
    val ids = read(path).where("p = 'aa'").select("id", "_index").orderBy("_index").collect()
    val kept = ids.zipWithIndex.collect { case (r, i) if i != 0 && i != 5 => r.getLong(0) }
    val query = read(changed).where("p = 'aa'").select("id")
    assert(query.collect().map(_.getLong(0)).toSeq == kept.toSeq)
    assert(read(changed).where("p = 'aa'").count() == kept.length)
    assert(read(changed).where("p <=> null").count() == read(path).where("p is null").count())
  }

  test("several paths, older versions and rebalanced tables are read by partition") {
    val plain = freshPath()
    write(rowsOf(5), plain, "append")
    val both = spark.read.format("zrecord").load(path, plain)
    val expected = inMemory.where("p = 'aa'").count() + rowsOf(5).where("p = 'aa'").count()
    assert(both.where("p = 'aa'").count() == expected)
    assert(
      both.where("not (p = 'aa')").count() ==
        inMemory.where("p <> 'aa'").count() + rowsOf(5).where("p <> 'aa'").count()
    )
    assert(metrics(both.where("p = 'aa'"))("shardsPlanned") < 20)
    assert(
      read(path, "versionAsOf" -> "0").where("p = 'aa'").count() ==
        rowsOf(0).where("p = 'aa'").count()
    )
    val moved = make(freshPath())
    val before = read(moved).where("p = 'aa'").select("id", "_index").collect().toSeq
    Rebalance.of(spark, moved).run()
    assert(
      read(moved).where("p = 'aa'").select("id", "_index").orderBy("_index").collect().toSeq ==
        before
    )
    assert(tableAt(moved).latest().partitionFields().size() == 2)
  }
}
