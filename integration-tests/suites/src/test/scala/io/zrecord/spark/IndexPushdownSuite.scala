package io.zrecord.spark

import java.util.zip.CRC32

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, expr}

class IndexPushdownSuite extends SparkSuite {
  private val length = 3000L
  private lazy val path = {
    val target = freshPath()
    for (part <- 0 until 3)
      write(
        spark
          .range(part * 1000L, part * 1000L + 1000, 1, 3)
          .selectExpr("id", "cast(id as string) s"),
        target,
        "append",
        "chunkBytes" -> "4k"
      )
    target
  }

  /** The index of the first record of each record's shard. */
  private lazy val shardOf: Long => Long = {
    val version = tableAt(path).latest()
    assert(version.shards().size() == 9)
    index => version.firstIndex(version.shardOf(index))
  }

  /** A random condition on _index or _shard as SQL, and its meaning. */
  private def predicate(random: Random, depth: Int): (String, Long => Boolean) = {
    def bound = random.nextInt(length.toInt + 400) - 200L
    if (depth > 0 && random.nextBoolean()) {
      val (leftSql, left) = predicate(random, depth - 1)
      val (rightSql, right) = predicate(random, depth - 1)
      random.nextInt(3) match {
        case 0 => (s"($leftSql and $rightSql)", i => left(i) && right(i))
        case 1 => (s"($leftSql or $rightSql)", i => left(i) || right(i))
        case _ => (s"(not $leftSql)", i => !left(i))
      }
    } else {
      val a = bound
      val b = bound
      def first = if (random.nextBoolean()) bound else shardOf(random.nextInt(length.toInt))
      random.nextInt(12) match {
        case 0 => (s"_index = $a", _ == a)
        case 1 => (s"_index < $a", _ < a)
        case 2 => (s"$a <= _index", _ >= a)
        case 3 =>
          (s"_index between ${a min b} and ${a max b}", i => i >= (a min b) && i <= (a max b))
        case 4 =>
          val list = Seq.fill(1 + random.nextInt(40))(bound)
          (s"_index in (${list.mkString(",")})", list.toSet.contains(_))
        case 5 => (s"_index != $a", _ != a)
        case 6 => (s"_index <=> $a", _ == a)
        case 7 =>
          val shard = first
          (s"_shard = $shard", shardOf(_) == shard)
        case 8 =>
          val list = Seq.fill(1 + random.nextInt(20))(first)
          (s"_shard in (${list.mkString(",")})", i => list.contains(shardOf(i)))
        case 9 =>
          val shard = first
          (s"$shard > _shard", shardOf(_) < shard)
        case 10 => ("_shard is null", _ => false)
        case _ => (s"_index is not null", _ => true)
      }
    }
  }

  private val seed = Budget.seed

  test(s"random conditions select what they say (seed $seed)") {
    val random = new Random(seed)
    for (round <- 1 to Budget.of(60)) {
      val (sql, holds) = predicate(random, 3)
      val expected = (0L until length).filter(holds)
      val found = read(path).where(sql).selectExpr("id", "s", "_index").collect()
      assert(found.map(_.getLong(2)).toSeq == expected, s"round $round: $sql")
      assert(
        found.forall(r => r.getLong(0) == r.getLong(2) && r.getString(1) == r.getLong(0).toString)
      )
      assert(read(path).where(sql).count() == expected.size)
    }
  }

  test("only the records asked for are read, and mixed conditions are split") {
    val query = read(path).where("_index in (5, 1700) and id > 100")
    assert(query.collect().map(_.getLong(0)).toSeq == Seq(1700L))
    val metrics = ScanPlans.metrics(query)
    assert(metrics("records") == 2)
    assert(metrics("rangesPlanned") == 2)
  }

  test("only the records of the shards asked for are read") {
    val shard = shardOf(1700)
    val query = read(path).where(s"_shard = $shard and id % 2 = 0").select("id", "_shard")
    assert(query.collect().map(_.getLong(1)).toSet == Set(shard))
    assert(ScanPlans.metrics(query)("records") == (0L until length).count(shardOf(_) == shard))
    assert(ScanPlans.metrics(query)("shardsPlanned") == 1)
    // In the order of a sampler a shard is no range of places, and Spark decides.
    val sampled = read(path, "sampler" -> "sequential", "step" -> "-1").where(s"_shard = $shard")
    assert(
      sampled.select("id").collect().map(_.getLong(0)).toSet ==
        (0L until length).filter(shardOf(_) == shard).toSet
    )
  }

  test("the option indices reads those records, and goes with conditions") {
    val wanted = Seq(2999L, 5L, 70L, 71L, 5L)
    val data = read(path, "indices" -> wanted.mkString(" , "))
    assert(data.select("id").collect().map(_.getLong(0)).toSeq == wanted.distinct.sorted)
    assert(data.count() == 4)
    assert(
      data.where("_index > 70").select("id").collect().map(_.getLong(0)).toSet == Set(71L, 2999L)
    )
    assert(read(path, "indices" -> "").count() == 0)
    val beyond = failure(read(path, "indices" -> "0,3000").collect())
    assert(beyond.contains("no record 3000") && beyond.contains("from 0 to 2999"), beyond)
    assert(failure(read(path, "indices" -> "1;2").collect()).contains("'1;2' is no index"))
  }

  test("a column that is not read costs nothing") {
    val query = read(path).selectExpr("sum(id)")
    query.collect()
    val metrics = ScanPlans.metrics(query)
    assert(metrics("records") == length)
    assert(metrics("bytesDelivered") == length * 8)
    assert(metrics("bytesRead") <= length * 8 * 105 / 100)
  }

  test("count comes from the metadata") {
    for (
      query <- Seq(read(path).groupBy().count(), read(path).where("_index >= 10").groupBy().count())
    ) {
      assert(!query.queryExecution.executedPlan.toString.contains("BatchScan"))
    }
    assert(read(path).where("_index >= 10").groupBy().count().first().getLong(0) == length - 10)
    assert(read(path).where("id >= 10").count() == length - 10)
  }

  test("limit and offset are exact ranges") {
    assert(read(path).limit(7).collect().map(_.getLong(0)).toSeq == (0L until 7L))
    assert(read(path).offset(10).limit(5).collect().map(_.getLong(0)).toSeq == (10L until 15L))
    assert(read(path).limit(15).offset(10).collect().map(_.getLong(0)).toSeq == (10L until 15L))
    assert(read(path).offset(2995).collect().map(_.getLong(0)).toSeq == (2995L until 3000L))
    assert(
      read(path).where("_index > 100").limit(3).collect().map(_.getLong(0)).toSeq == Seq(
        101L,
        102L,
        103L
      )
    )
    assert(read(path).limit(0).count() == 0)
    assert(
      read(path).where("id > 100").limit(3).collect().map(_.getLong(0)).toSeq == Seq(
        101L,
        102L,
        103L
      )
    )
    val query = read(path).offset(2000).limit(1)
    query.collect()
    assert(ScanPlans.metrics(query)("records") == 1)
  }

  test("the first and the last records in the order of the index are read, and no others") {
    for {
      column <- Seq("_index", "_position")
      descending <- Seq(false, true)
      condition <- Seq("true", "_index between 100 and 1500")
      count <- Seq(0, 1, 7, 2999, 5000)
      more <- Seq(Seq(), Seq(expr("s")))
    } {
      val order = if (descending) col(column).desc else col(column).asc
      val query = read(path)
        .selectExpr("id", "s", column, "_index i")
        .where(condition.replace("_index", "i"))
        .orderBy(order +: more: _*)
        .limit(count)
        .select("id")
      val all = (0L until length).filter(i => condition == "true" || (i >= 100 && i <= 1500))
      val expected = (if (descending) all.reverse else all).take(count)
      assert(query.collect().map(_.getLong(0)).toSeq == expected)
      if (count > 0) assert(ScanPlans.metrics(query)("records") == expected.size, query.toString)
    }
    val inRandomOrder = read(path, "sampler" -> "shuffle", "seed" -> "5").selectExpr("*", "_index")
    assert(
      inRandomOrder.orderBy("_index").limit(3).collect().map(_.getLong(0)).toSeq == (0L until 3L)
    )
    val byValue = read(path)
      .where("id % 7 = 3")
      .selectExpr("*", "_index")
      .orderBy(
        col("_index").desc
      )
    assert(byValue.limit(2).collect().map(_.getLong(0)).toSeq == Seq(2999L, 2992L))
    assert(read(path).orderBy("s").limit(2).collect().map(_.getLong(0)).toSeq == Seq(0L, 1L))
  }

  test("a join with a list of indices reads only those") {
    // No local list: Spark would filter it at once, and narrows scans only by later filters.
    val wanted = spark.range(0, length, 1, 1).selectExpr("id + 0 wanted")
    val joined = read(path)
      .selectExpr("*", "_index")
      .join(
        wanted.where("wanted % 2483 = 17"),
        org.apache.spark.sql.functions.expr("_index = wanted")
      )
    assert(joined.collect().map(_.getLong(0)).toSet == Set(17L, 2500L))
    assert(ScanPlans.metrics(joined)("records") == 2)
    assert(ScanPlans.metrics(joined)("rangesPlanned") == 2)
  }

  test("partitions follow the options and keep the order") {
    for (n <- Seq(1, 2, 7, 50)) {
      val data = read(path, "numPartitions" -> n.toString)
      assert(data.rdd.getNumPartitions == n)
      assert(data.collect().map(_.getLong(0)).toSeq == (0L until length))
    }
  }

  test("batches of any size give the same rows") {
    for ((rows, bytes) <- Seq(("1", "1"), ("3", "1m"), ("100000", "100"))) {
      val data = read(path, "batchRows" -> rows, "batchBytes" -> bytes)
      assert(
        data.selectExpr("id", "s").collect().map(_.getString(1)).toSeq == (0L until length).map(
          _.toString
        )
      )
    }
  }

  test("values that decompress to more than fits in one batch, or in an array") {
    val target = freshPath()
    val valueBytes = 64 << 20
    write(
      spark.range(0, 34, 1, 1).selectExpr(s"repeat(char(65 + id % 26), $valueBytes) s"),
      target,
      "append",
      "compression" -> "zstd"
    )
    val value = new Array[Byte](valueBytes)
    val checksums = (0 until 26).map { letter =>
      java.util.Arrays.fill(value, (65 + letter).toByte)
      val checksum = new CRC32()
      checksum.update(value)
      checksum.getValue
    }
    def requireValues(data: DataFrame, indices: Range): Unit = {
      val found =
        data.selectExpr("_index", "octet_length(s)", "crc32(cast(s as binary))").orderBy("_index")
      val expected = indices.map(i => Row(i.toLong, valueBytes, checksums(i % 26)))
      assert(found.collect().toSeq == expected)
    }
    requireValues(read(target), 0 until 34)
    val even = 0 until 34 by 2
    requireValues(read(target).where(even.mkString("_index in (", ",", ")")), even)
  }

  test("several paths follow each other") {
    val both = spark.read.format("zrecord").load(path, path)
    assert(both.count() == 2 * length)
    assert(both.where("_index = 3001").select("id").collect().map(_.getLong(0)).toSeq == Seq(1L))
    val other = freshPath()
    write(spark.range(2).toDF("x"), other, "append")
    assert(failure(spark.read.format("zrecord").load(path, other)).contains("their columns are"))
  }

  test("statistics are exact") {
    val statistics = read(path).select("id").queryExecution.optimizedPlan.stats
    assert(statistics.rowCount.contains(BigInt(length)))
  }
}
