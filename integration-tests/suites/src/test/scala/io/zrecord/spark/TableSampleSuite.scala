package io.zrecord.spark

import io.zrecord.spark.scan.ZRecordScanBuilder
import io.zrecord.spark.catalog.ZRecordTables
import io.zrecord.spark.options.TimeTravel
import io.zrecord.spark.path.ReadPaths
import io.zrecord.table.RecordTable
import io.zrecord.testing.Budget
import scala.util.Random

import org.apache.spark.sql.DataFrame

/** Samples that Spark pushes down. All seeds are fixed: a failure repeats. */
class TableSampleSuite extends SparkSuite {
  private val length = 20000
  private lazy val path = {
    val target = freshPath()
    for (part <- 0 until 2)
      write(
        spark
          .range(part * 10000L, part * 10000L + 10000, 1, 2)
          .selectExpr("id", "cast(id as string) s"),
        target,
        "append",
        "chunkBytes" -> "4k"
      )
    target
  }

  private def ids(data: DataFrame): Seq[Long] = data.select("id").collect().map(_.getLong(0)).toSeq

  private def isPushed(data: DataFrame): Boolean =
    !data.queryExecution.optimizedPlan.toString.contains("Sample ")

  /** Tells whether a sum of squares of `degrees` normal deviates is plausible: within five standard
    * deviations.
    */
  private def isLikely(sumOfSquares: Double, degrees: Double): Boolean =
    math.abs(sumOfSquares - degrees) < 5 * math.sqrt(2 * degrees)

  /** Returns how far the numbers of drawn records are from the numbers expected from a fraction. */
  private def sumOfSquares(counts: Seq[Int], fraction: Double): Double =
    counts.map { count =>
      math.pow(count - length * fraction, 2) / (length * fraction * (1 - fraction))
    }.sum

  /** Returns the indices that a scan reads after something was pushed down. */
  private def draw(push: ZRecordScanBuilder => Any): Seq[Long] = {
    val table =
      ZRecordTables.load(ReadPaths.literal(path), TimeTravel.newest())
    val builder = table
      .newScanBuilder(org.apache.spark.sql.util.CaseInsensitiveStringMap.empty())
      .asInstanceOf[ZRecordScanBuilder]
    push(builder)
    builder.pruneColumns(new org.apache.spark.sql.types.StructType().add("_index", "bigint"))
    val batch = builder.build().toBatch
    batch.planInputPartitions().toSeq.flatMap { partition =>
      val reader = batch.createReaderFactory().createColumnarReader(partition)
      val found = Seq.newBuilder[Long]
      while (reader.next()) {
        val rows = reader.get()
        (0 until rows.numRows()).foreach(row => found += rows.column(0).getLong(row))
      }
      reader.close()
      found.result()
    }
  }

  test("as many records as the fraction says, give or take what chance does") {
    val fractions = new Random(Budget.seed).shuffle(Seq(0.001, 0.1, 0.5, 0.99))
    for (fraction <- fractions.take(Budget.of(10))) {
      val counts = (1 to 64).map(seed => ids(read(path).sample(fraction, seed)).size)
      assert(isLikely(sumOfSquares(counts, fraction), 64), s"$fraction: $counts")
    }
    // Controls: always the same number, and one record in a hundred too many.
    assert(!isLikely(sumOfSquares(Seq.fill(64)(length / 10), 0.1), 64))
    val random = new Random(5)
    val biased = Seq.fill(64)(Seq.fill(length)(random.nextDouble()).count(_ < 0.11))
    assert(!isLikely(sumOfSquares(biased, 0.1), 64))
  }

  test("every record is drawn as often as any other, alone and with its neighbours") {
    val rounds = 60
    def deviations(draws: Seq[Set[Long]]): (Double, Double) = {
      val times = new Array[Int](length)
      var both = 0
      for (draw <- draws; id <- draw) {
        times(id.toInt) += 1
        if (draw.contains(id + 1)) both += 1
      }
      val pairs = (length - 1) * rounds
      (
        times.map(t => math.pow(t - rounds / 2.0, 2) / (rounds / 4.0)).sum,
        math.abs(both - pairs / 4.0) / math.sqrt(pairs * 5 / 16.0)
      )
    }
    val (each, pairs) =
      deviations((1 to rounds).map(seed => ids(read(path).sample(0.5, seed)).toSet))
    assert(isLikely(each, length), each)
    assert(pairs < 5, pairs)
    // Controls: alternating records, and the same records every time.
    val alternating = (1 to rounds).map(r => (0L until length).filter(i => (i + r) % 2 == 0).toSet)
    assert(deviations(alternating)._2 > 5)
    val same = (0L until length).filter(i => new Random(i).nextBoolean()).toSet
    assert(!isLikely(deviations(Seq.fill(rounds)(same))._1, length))
  }

  test("a seed draws the same records whatever the partitions; another seed draws others") {
    val drawn = ids(read(path, "numPartitions" -> "1").sample(0.3, 7))
    for (partitions <- Seq("2", "13", "100"))
      assert(ids(read(path, "numPartitions" -> partitions).sample(0.3, 7)) == drawn)
    assert(drawn == drawn.sorted && drawn.distinct.size == drawn.size)
    val other = ids(read(path).sample(0.3, 8))
    assert(math.abs(drawn.intersect(other).size - length * 0.09) < 300)
    assert(ids(read(path).sample(0.31, 7)).containsSlice(drawn.take(1)))
    assert(drawn.toSet.subsetOf(ids(read(path).sample(0.31, 7)).toSet))
  }

  test("ranges of the unit interval that do not overlap draw different records, all together all") {
    def drawn(lower: Double, upper: Double): Seq[Long] = draw { builder =>
      assert(builder.pushTableSample(lower, upper, false, 3))
      assert(!builder.pushTableSample(lower, upper, false, 3), "one sample only")
    }
    val parts = Seq(drawn(0, 0.25), drawn(0.25, 0.7), drawn(0.7, 1))
    assert(parts.flatten.sorted == (0L until length))
    assert(parts.forall(_.nonEmpty))
  }

  testLocally("what is not drawn is not read of chunks that were checked") {
    read(path).selectExpr("sum(id)").collect() // The first read of a chunk checks all of the chunk.
    val query = read(path).sample(0.01, 5).select("id")
    val found = query.collect().length
    val metrics = ScanPlans.metrics(query)
    assert(isPushed(query))
    assert(found > 100 && found < 300)
    assert(metrics("records") == found)
    assert(metrics("bytesDelivered") == found * 8)
    assert(metrics("bytesRead") < length * 8 / 2)
  }

  test("fractions of nothing and of everything") {
    assert(ids(read(path).sample(0.0, 1)).isEmpty)
    assert(ids(read(path).sample(1.0, 1)) == (0L until length))
    assert(read(path).sample(0.0, 1).count() == 0)
  }

  test("conditions, limit, offset and count are those of the sample") {
    for (replacement <- Seq(false, true)) {
      def sample = read(path, "numPartitions" -> "3").sample(replacement, 0.2, 11L)
      val drawn = ids(sample)
      assert(drawn.nonEmpty)
      assert(sample.count() == drawn.size)
      assert(ids(sample.where("id % 2 = 0")) == drawn.filter(_ % 2 == 0))
      assert(sample.where("id % 2 = 0").count() == drawn.count(_ % 2 == 0))
      val some = sample.where("_index between 5000 and 5999")
      assert(ids(some) == drawn.filter(i => i >= 5000 && i < 6000))
      assert(some.count() == drawn.count(i => i >= 5000 && i < 6000))
      assert(ids(sample.limit(10)) == drawn.take(10))
      assert(ids(sample.where("_index >= 5000").limit(10)) == drawn.filter(_ >= 5000).take(10))
      assert(ids(sample.offset(drawn.size - 3)) == drawn.takeRight(3))
      assert(ids(sample.offset(20).limit(10)) == drawn.slice(20, 30))
      assert(sample.limit(10).count() == 10)
      assert(sample.selectExpr("sum(id)").first().getLong(0) == drawn.sum)
    }
  }

  test("a sample of what a condition left, and a sample of a sample, are Spark's") {
    val ofSome = read(path).where("_index < 1000").sample(0.5, 3)
    assert(!isPushed(ofSome))
    val found = ids(ofSome)
    assert(found.forall(_ < 1000) && found.size > 400 && found.size < 600)
    val twice = read(path).sample(0.5, 3).sample(0.5, 4)
    val inner = ids(read(path).sample(0.5, 3)).toSet
    val both = ids(twice)
    assert(both.forall(inner.contains) && both.size > 4500 && both.size < 5500)
  }

  test("with replacement a record is drawn as often as a Poisson variable says") {
    for (mean <- Seq(0.1, 1.0, 3.5)) {
      val query = read(path, "numPartitions" -> "5").sample(true, mean, 21L).select("id")
      assert(isPushed(query))
      val drawn = query.collect().map(_.getLong(0)).toSeq
      assert(ScanPlans.metrics(query)("records") == drawn.size)
      assert(drawn == drawn.sorted)
      val times = new Array[Int](length)
      drawn.foreach(id => times(id.toInt) += 1)
      var probability = math.exp(-mean)
      var squares = 0.0
      var degrees = -1
      for (k <- 0 to 20) {
        val expected = length * probability
        if (expected > 20) {
          squares += math.pow(times.count(_ == k) - expected, 2) / expected
          degrees += 1
        }
        probability *= mean / (k + 1)
      }
      assert(squares < degrees + 5 * math.sqrt(2 * degrees), s"mean $mean: $squares of $degrees")
      assert(math.abs(drawn.size - length * mean) < 5 * math.sqrt(length * mean))
    }
    assert(!isPushed(read(path).sample(true, 100.0, 1L)))
    assert(math.abs(read(path).limit(100).sample(true, 100.0, 1L).count() - 10000) < 600)
  }

  test("SQL says the same") {
    val drawn = spark.sql(s"select id from zrecord.`$path` tablesample (10 percent) repeatable (7)")
    assert(isPushed(drawn))
    assert(ids(drawn) == ids(read(path).sample(0.1, 7)))
    assert(spark.sql(s"select * from zrecord.`$path` tablesample (5 rows)").count() == 5)
  }

  test("several paths are sampled as one") {
    val both = spark.read.format("zrecord").load(path, path).sample(0.1, 7).select("_index")
    val drawn = both.collect().map(_.getLong(0)).toSeq
    assert(isPushed(both))
    assert(drawn.filter(_ < length) == ids(read(path).sample(0.1, 7)))
    assert(drawn.exists(_ >= length) && drawn == drawn.sorted)
  }

  test("of a sampler's order positions are drawn, which have nothing to do with its indices") {
    val ordered = read(path, "sampler" -> "random", "seed" -> "7", "numSamples" -> "50000")
    val query = ordered.sample(0.2, 7).select("_position", "id")
    val drawn = query.collect().map(r => (r.getLong(0), r.getLong(1))).toSeq
    assert(isPushed(query))
    assert(ScanPlans.metrics(query)("records") == drawn.size)
    assert(ordered.sample(0.2, 7).count() == drawn.size)
    assert(math.abs(drawn.size - 10000) < 500)
    val all = ordered.select("id").collect().map(_.getLong(0))
    assert(drawn.map(_._1) == drawn.map(_._1).sorted)
    assert(drawn.forall { case (position, id) => all(position.toInt) == id })
    def deviation(ids: Seq[Long]) =
      math.abs(ids.map(_.toDouble).sum / ids.size - length / 2.0) / (length / math.sqrt(
        12.0 * ids.size
      ))
    assert(deviation(drawn.map(_._2)) < 5)
    // A control: a sample by the numbers of the sampler itself.
    assert(deviation(all.toSeq.filter(_ < length / 5)) > 5)
    assert(
      ids(ordered.sample(0.2, 7).where("_position < 500")) == drawn.filter(_._1 < 500).map(_._2)
    )
  }

  /** The first index of each unit: a shard has as many as it has chunks. */
  private lazy val units = {
    val snapshot = tableAt(path).latest()
    (0 until snapshot.shards.size).flatMap { ordinal =>
      val shard = snapshot.shards.get(ordinal)
      (0 until shard.chunkCount).map { unit =>
        snapshot.firstIndex(ordinal) + shard.length * unit / shard.chunkCount
      }
    }
  }

  private def unitOf(id: Long): Long = units.filter(_ <= id).max

  test("TABLESAMPLE SYSTEM draws whole ranges, as many a shard as it has chunks") {
    assume(spark.version >= "4.2", "older releases have no TABLESAMPLE SYSTEM")
    assert(units.size > 40)
    // Spark takes no seed here, so each query draws again.
    val sample = spark.sql(s"select *, _index from zrecord.`$path` tablesample system (40 percent)")
    for (
      (sql, holds) <- Seq[(String, Long => Boolean)](
        ("true", _ => true),
        ("_index >= 7000", _ >= 7000),
        ("id % 2 = 0", _ % 2 == 0)
      )
    ) {
      val query = sample.where(sql).select("id")
      val drawn = query.collect().map(_.getLong(0)).toSeq
      val whole = drawn.map(unitOf).toSet
      assert(drawn == (0L until length).filter(id => whole.contains(unitOf(id)) && holds(id)))
      assert(whole.size < units.size)
      if (sql == "true") assert(ScanPlans.metrics(query)("records") == drawn.size)
    }
    assert(ids(sample.limit(100)).size == 100)
    val counted = sample.groupBy().count()
    assert(!counted.queryExecution.executedPlan.toString.contains("BatchScan"))
    assert(counted.first().getLong(0) < length)
    for ((percent, count) <- Seq(0 -> 0, 100 -> length))
      assert(
        spark
          .sql(s"select * from zrecord.`$path` tablesample system ($percent percent)")
          .count() == count
      )
  }

  test("TABLESAMPLE SYSTEM draws as many ranges as the fraction says, by its seed") {
    assume(spark.version >= "4.2", "older releases have no TABLESAMPLE SYSTEM")
    def drawn(seed: Long): Seq[Long] = {
      val push = classOf[ZRecordScanBuilder].getMethods
        .find(method => method.getName == "pushTableSample" && method.getParameterCount == 5)
        .get
      val method = push.getParameterTypes.apply(4).getField("SYSTEM").get(null)
      draw(
        push.invoke(_, Double.box(0), Double.box(0.3), Boolean.box(false), Long.box(seed), method)
      )
    }
    val counts = (1 to 64).map(seed => drawn(seed).map(unitOf).distinct.size)
    val expected = units.size * 0.3
    assert(isLikely(counts.map(n => math.pow(n - expected, 2) / (expected * 0.7)).sum, 64), counts)
    assert(drawn(1) == drawn(1) && drawn(1) != drawn(2))
  }

  test("TABLESAMPLE SYSTEM of a sampler's order is refused") {
    assume(spark.version >= "4.2", "older releases have no TABLESAMPLE SYSTEM")
    val sql =
      s"select * from zrecord.`$path` with (sampler = 'shuffle') tablesample system (30 percent)"
    val message = failure(spark.sql(sql).collect())
    assert(message.contains("TABLESAMPLE_SYSTEM"), message)
  }

  test("the jar has no class of Spark's own") {
    val jar = new java.util.jar.JarFile(System.getProperty("zrecord.test.jar"))
    try assert(jar.stream().noneMatch(_.getName.startsWith("org/apache/spark")))
    finally jar.close()
  }
}
