package io.zrecord.spark

import scala.util.Random

import org.apache.spark.sql.DataFrame

/** Samples that Spark hands down. All seeds are fixed: a failure repeats. */
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
        "chunkRecords" -> "300"
      )
    target
  }

  private def ids(data: DataFrame): Seq[Long] = data.select("id").collect().map(_.getLong(0)).toSeq

  private def isPushed(data: DataFrame): Boolean =
    !data.queryExecution.optimizedPlan.toString.contains("Sample ")

  /** Whether sums of squares of `degrees` normal deviates are like that: five standard deviations.
    */
  private def isLikely(sumOfSquares: Double, degrees: Double): Boolean =
    math.abs(sumOfSquares - degrees) < 5 * math.sqrt(2 * degrees)

  /** Of the numbers of records drawn, how far they are from what a fraction lets expect. */
  private def sumOfSquares(counts: Seq[Int], fraction: Double): Double =
    counts.map { count =>
      math.pow(count - length * fraction, 2) / (length * fraction * (1 - fraction))
    }.sum

  test("as many records as the fraction says, give or take what chance does") {
    for (fraction <- Seq(0.001, 0.1, 0.5, 0.99)) {
      val counts = (1 to 40).map(seed => ids(read(path).sample(fraction, seed)).size)
      assert(isLikely(sumOfSquares(counts, fraction), 40), s"$fraction: $counts")
    }
    // Controls: always the same number, and one record in a hundred too many.
    assert(!isLikely(sumOfSquares(Seq.fill(40)(length / 10), 0.1), 40))
    val random = new Random(5)
    val biased = Seq.fill(40)(Seq.fill(length)(random.nextDouble()).count(_ < 0.11))
    assert(!isLikely(sumOfSquares(biased, 0.1), 40))
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
        math.abs(both - pairs / 4.0) / math.sqrt(pairs * 3 / 16.0)
      )
    }
    val (each, pairs) =
      deviations((1 to rounds).map(seed => ids(read(path).sample(0.5, seed)).toSet))
    assert(isLikely(each, length), each)
    assert(pairs < 8, pairs)
    // Controls: alternating records, and the same ones every time.
    val alternating = (1 to rounds).map(r => (0L until length).filter(i => (i + r) % 2 == 0).toSet)
    assert(deviations(alternating)._2 > 8)
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
    def drawn(lower: Double, upper: Double): Seq[Long] = {
      val table = DatasetPaths.load(java.util.List.of(path), DatasetPaths.Time.newest())
      val builder = table
        .newScanBuilder(org.apache.spark.sql.util.CaseInsensitiveStringMap.empty())
        .asInstanceOf[ZRecordScanBuilder]
      assert(builder.pushTableSample(lower, upper, false, 3))
      assert(!builder.pushTableSample(lower, upper, false, 3), "one sample only")
      builder.pruneColumns(new org.apache.spark.sql.types.StructType().add("_index", "bigint"))
      val batch = builder.build().toBatch
      batch.planInputPartitions().toSeq.flatMap { partition =>
        val reader = batch.createReaderFactory().createColumnarReader(partition)
        val found = Seq.newBuilder[Long]
        while (reader.next())
          (0 until reader.get().numRows())
            .foreach(row => found += reader.get().column(0).getLong(row))
        reader.close()
        found.result()
      }
    }
    spark.range(1).count() // The plan asks the session how many cores there are.
    val parts = Seq(drawn(0, 0.25), drawn(0.25, 0.7), drawn(0.7, 1))
    assert(parts.flatten.sorted == (0L until length))
    assert(parts.forall(_.nonEmpty))
  }

  test("what is not drawn is not read") {
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
    // A control: what a sample by the numbers of the sampler itself would be.
    assert(deviation(all.toSeq.filter(_ < length / 5)) > 5)
    assert(
      ids(ordered.sample(0.2, 7).where("_position < 500")) == drawn.filter(_._1 < 500).map(_._2)
    )
  }

  private def system(percent: Int, seed: Int): DataFrame =
    spark.sql(
      s"select *, _index from zrecord.`$path` tablesample system ($percent percent) repeatable ($seed)"
    )

  test("TABLESAMPLE SYSTEM draws whole chunks") {
    assume(spark.version >= "4.2", "older releases have no TABLESAMPLE SYSTEM")
    // 4 shards of 5,000 records, each of 16 chunks of 300 and one of 200.
    val chunks = (0 until 4).flatMap(s => (0 until 17).map(c => s * 5000L + c * 300L))
    def chunkOf(id: Long) = chunks.filter(_ <= id).max
    val counts = (1 to 20).map { seed =>
      val drawn = ids(system(30, seed))
      val whole = drawn.map(chunkOf).distinct
      assert(drawn == (0L until length).filter(id => whole.contains(chunkOf(id))))
      assert(ids(system(30, seed)) == drawn)
      assert(system(30, seed).groupBy().count().first().getLong(0) == drawn.size)
      assert(ids(system(30, seed).limit(400)) == drawn.take(400))
      assert(ids(system(30, seed).where("_index >= 7000")) == drawn.filter(_ >= 7000))
      whole.size
    }
    val squares = counts.map(n => math.pow(n - 68 * 0.3, 2) / (68 * 0.3 * 0.7)).sum
    assert(isLikely(squares, 20), counts)
    assert(counts.distinct.size > 1)
    val query = system(30, 1).select("id")
    val found = query.collect().length
    assert(ScanPlans.metrics(query)("records") == found)
  }

  test("TABLESAMPLE SYSTEM of a sampler's order is refused") {
    assume(spark.version >= "4.2", "older releases have no TABLESAMPLE SYSTEM")
    spark.conf.set("spark.datasource.zrecord.sampler", "shuffle")
    try {
      val message = failure(
        spark
          .sql(
            s"select * from zrecord.`$path` with (sampler = 'shuffle') tablesample system (30 percent)"
          )
          .collect()
      )
      assert(message.contains("TABLESAMPLE_SYSTEM"), message)
    } finally spark.conf.unset("spark.datasource.zrecord.sampler")
  }

  test("the jar has no class of Spark's own") {
    val jar = new java.util.jar.JarFile(System.getProperty("zrecord.test.jar"))
    try assert(jar.stream().noneMatch(_.getName.startsWith("org/apache/spark")))
    finally jar.close()
  }
}
