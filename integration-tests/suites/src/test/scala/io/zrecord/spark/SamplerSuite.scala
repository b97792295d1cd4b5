package io.zrecord.spark

import io.zrecord.spark.path.SparkStorages
import io.zrecord.spark.scan.OpenSamplers
import io.zrecord.spark.scan.SnapshotId
import java.io.{ByteArrayOutputStream, ObjectOutputStream}

import io.zrecord.RecordDataset
import io.zrecord.feed.{Feed, FeedGroup}
import io.zrecord.feed.spec.{SamplerParameter, SamplerSpec}
import io.zrecord.sampler.{Remainder, Sampler, Samplers, SlidingSampler}

import org.apache.spark.sql.DataFrame

class SamplerSuite extends SparkSuite {
  private val length = 3000
  private val weights = Array.tabulate(length)(i => (i % 7) / 2.0)
  private val labels =
    Array.tabulate(length)(i => if (i % 10 == 0) 1 else if (i % 3 == 0) -5 else 7)

  /** Three shards, each of several chunks. */
  private lazy val path = {
    val target = freshPath()
    for (part <- 0 until 3)
      write(
        spark
          .range(part * 1000L, part * 1000L + 1000, 1, 1)
          .selectExpr(
            "id",
            "cast(id as string) s",
            "(id % 7) / 2.0d w",
            "cast(id % 7 as float) / 2 w32",
            "cast(if(id % 10 = 0, 1, if(id % 3 = 0, -5, 7)) as tinyint) l",
            "cast(if(id % 10 = 0, 1, if(id % 3 = 0, -5, 7)) as bigint) l64"
          ),
        target,
        "append",
        "chunkBytes" -> "4k"
      )
    target
  }

  private def expected(order: Sampler, epoch: Long): Seq[Long] = {
    val indices = new Array[Long](order.length().toInt)
    order.indices(epoch, 0, indices, 0, indices.length)
    indices.toSeq
  }

  private def indices(data: DataFrame): Seq[Long] = {
    val found = data.select("_position", "_index", "id", "s").collect().toSeq
    assert(found.map(_.getLong(0)) == found.indices.map(_.toLong))
    assert(found.forall(r => r.getLong(1) == r.getLong(2) && r.getString(3) == s"${r.getLong(2)}"))
    found.map(_.getLong(1))
  }

  /** The options of each mode, and the sampler for them. */
  private def modes(seed: Long): Seq[(Map[String, String], Sampler)] = {
    val n = length.toLong
    Seq(
      Map("sampler" -> "sequential") -> Samplers.sequential(n),
      Map("sampler" -> "sequential", "from" -> "10", "to" -> "2000", "step" -> "7") ->
        Samplers.sequential(10, 2000, 7),
      Map("sampler" -> "sequential", "step" -> "-1") -> Samplers.sequential(n - 1, -1, -1),
      Map("sampler" -> "sliding", "window" -> "16", "stride" -> "5") ->
        Samplers.sliding(n, 16, 5).onePass(),
      Map("sampler" -> "sliding", "window" -> "16", "stride" -> "5", "numSamples" -> "20000") ->
        Samplers.sliding(n, 16, 5).take(20000),
      Map("sampler" -> "RANDOM", "numSamples" -> "5000") -> Samplers.random(n, seed).take(5000),
      Map("sampler" -> "global", "batchSize" -> "64", "numSamples" -> "5000") ->
        Samplers.global(n, 64, seed).take(5000),
      Map("sampler" -> "shuffle") -> Samplers.shuffle(n, seed),
      Map("sampler" -> "Shuffle", "numSamples" -> "500") -> Samplers.shuffle(n, seed).take(500),
      Map("sampler" -> "shuffle", "startPosition" -> "100") -> Samplers.shuffle(n, seed).skip(100),
      Map("sampler" -> "blockshuffle", "blockLength" -> "70", "mixed" -> "4") ->
        Samplers.blockShuffle(n, 70, 4, seed),
      Map("sampler" -> "weighted", "weightsField" -> "w", "numSamples" -> "4000") ->
        Samplers.weighted(weights, seed).take(4000),
      Map("sampler" -> "weighted", "weightsField" -> "w32", "numSamples" -> "4000") ->
        Samplers.weighted(weights, seed).take(4000),
      Map("sampler" -> "stratified", "labelsField" -> "l", "batchSize" -> "32") ->
        Samplers.stratified(labels, 32, seed),
      Map("sampler" -> "balanced", "labelsField" -> "l64", "batchSize" -> "32") ++
        Map("numSamples" -> "4000") -> Samplers.balanced(labels, 32, seed).take(4000)
    )
  }

  test("every sampler gives the rows of the engine's in its order, for any epoch and partitions") {
    for {
      (seed, epoch, partitions) <- Seq((42L, 0L, "1"), (-7L, 3L, "5"))
      (options, order) <- modes(seed)
    } {
      val all = options ++ Map("seed" -> s"$seed", "epoch" -> s"$epoch")
      val data = read(path, (all + ("numPartitions" -> partitions)).toSeq: _*)
      assert(indices(data) == expected(order, epoch), all)
      assert(data.rdd.getNumPartitions == partitions.toInt, all)
      assert(data.count() == order.length(), all)
    }
  }

  test("seed 42 and epoch 0 are the defaults, and partitions are many enough for all cores") {
    val data = read(path, "sampler" -> "shuffle")
    assert(indices(data) == expected(Samplers.shuffle(length, 42), 0))
    assert(indices(data) != (0L until length))
    assert(indices(data).sorted == (0L until length))
  }

  test("ranks read their shares of one order") {
    val order = Samplers.shuffle(length, 5)
    for (remainder <- Remainder.values(); world <- Seq(2, 7); rank <- 0 until world) {
      val data = read(
        path,
        "sampler" -> "shuffle",
        "seed" -> "5",
        "epoch" -> "2",
        "numSamples" -> "2999",
        "startPosition" -> "11",
        "rank" -> s"$rank",
        "worldSize" -> s"$world",
        "remainder" -> remainder.toString.toLowerCase
      )
      val share = order.take(2999).skip(11).share(rank, world, remainder)
      assert(indices(data) == expected(share, 2))
      assert(data.count() == share.length())
    }
  }

  testLocally("two ranks read what two feeds deliver") {
    val dataset = RecordDataset.open(path)
    try
      for (rank <- 0 until 2) {
        val group = FeedGroup
          .of(dataset)
          .fields("id")
          .sampler(Samplers.shuffle(dataset.length(), 9), 9)
          .batchSize(100)
        val delivered = Seq.newBuilder[Long]
        val feed = Feed.of(group).rank(rank, 2, Remainder.DROP).start()
        try {
          var batch = feed.next()
          while (batch != null) {
            val ids = batch.data("id").asLongBuffer()
            while (ids.hasRemaining) delivered += ids.get()
            batch.close()
            batch = feed.next()
          }
        } finally feed.close()
        val data = read(
          path,
          "sampler" -> "shuffle",
          "seed" -> "9",
          "rank" -> s"$rank",
          "worldSize" -> "2",
          "numPartitions" -> "3"
        )
        assert(data.select("id").collect().map(_.getLong(0)).toSeq == delivered.result())
      }
    finally dataset.close()
  }

  test("conditions on the position, limit, offset and count are decided on the driver") {
    val order = expected(Samplers.shuffle(length, 42), 0)
    val data = read(path, "sampler" -> "shuffle")
    def ids(query: DataFrame): Seq[Long] = {
      val narrowed = query.select("id")
      val found = narrowed.collect().map(_.getLong(0)).toSeq
      assert(ScanPlans.metrics(narrowed)("records") == found.size)
      found
    }
    assert(ids(data.where("_position between 100 and 199")) == order.slice(100, 200))
    assert(ids(data.where("_position in (7, 2999, 3)")) == Seq(order(3), order(7), order(2999)))
    assert(ids(data.limit(50)) == order.take(50))
    assert(ids(data.offset(2990)) == order.drop(2990))
    assert(ids(data.offset(100).limit(5)) == order.slice(100, 105))
    assert(ids(data.where("_position >= 1000").limit(5)) == order.slice(1000, 1005))
    val counted = data.where("_position >= 1000").groupBy().count()
    assert(counted.first().getLong(0) == 2000)
    assert(!counted.queryExecution.executedPlan.toString.contains("BatchScan"))
  }

  test("conditions on the index and on fields leave the order alone") {
    val options = Seq("sampler" -> "random", "numSamples" -> "9000", "numPartitions" -> "4")
    val order = expected(Samplers.random(length, 42).take(9000), 0)
    val data = read(path, options: _*)
    for (sql <- Seq("_index < 100", "id < 100", "_index < 100 and id >= 0 and _position >= 0")) {
      val found = data.where(sql).select("id").collect().map(_.getLong(0)).toSeq
      assert(found == order.filter(_ < 100), sql)
      assert(data.where(sql).count() == found.size)
      assert(
        data.where(sql).limit(7).select("id").collect().map(_.getLong(0)).toSeq == found.take(7)
      )
    }
    assert(order.filter(_ < 100).toSet.size < order.count(_ < 100), "there are duplicates")
    val both = data.where("_position < 5000 and _index = 17").select("_position").collect()
    assert(both.map(_.getLong(0)).toSeq == (0L until 5000).filter(p => order(p.toInt) == 17))
  }

  test("a join with a list of positions reads only those") {
    val wanted = spark.createDataFrame(Seq(17L, 2500L).map(Tuple1(_))).toDF("wanted")
    val joined = read(path, "sampler" -> "shuffle")
      .selectExpr("id", "_position")
      .join(wanted.where("wanted > 0"), org.apache.spark.sql.functions.expr("_position = wanted"))
    val order = expected(Samplers.shuffle(length, 42), 0)
    assert(joined.collect().map(_.getLong(0)).toSet == Set(order(17), order(2500)))
  }

  test("without a sampler the position is the index") {
    val data = read(path).where("_position in (5, 2000)").select("id", "_position", "_index")
    assert(data.collect().map(_.toSeq).toSeq == Seq(Seq(5L, 5L, 5L), Seq(2000L, 2000L, 2000L)))
    assert(ScanPlans.metrics(data)("records") == 2)
    assert(read(path).columns.toSeq == Seq("id", "s", "w", "w32", "l", "l64"))
  }

  test("batches of any size give the same rows") {
    val order = expected(Samplers.shuffle(length, 42), 0)
    for ((rows, bytes) <- Seq(("1", "1"), ("3", "1m"), ("100000", "100")))
      assert(
        indices(
          read(path, "sampler" -> "shuffle", "batchRows" -> rows, "batchBytes" -> bytes)
        ) == order
      )
  }

  test("tasks get a few bytes, whatever the number of samples") {
    def sizes(options: (String, String)*): Seq[Int] = {
      val scan = ScanPlans.only(read(path, options :+ ("numPartitions" -> "3"): _*)).scan.toBatch
      (scan.createReaderFactory() +: scan.planInputPartitions().toSeq).map { part =>
        val bytes = new ByteArrayOutputStream()
        val out = new ObjectOutputStream(bytes)
        out.writeObject(part)
        out.close()
        bytes.size()
      }
    }
    val few = sizes("sampler" -> "weighted", "weightsField" -> "w", "numSamples" -> "3000")
    val many =
      sizes("sampler" -> "weighted", "weightsField" -> "w", "numSamples" -> "3000000000000")
    assert(few == many)
    assert(few.size == 4 && few.head < 8192 && few.tail.forall(_ < 512), few)
  }

  test("weights are read once for a version, whatever the epoch and rank") {
    val snapshot = SnapshotId.of(
      io.zrecord.table.RecordTable.at(SparkStorages.storageFor(path)).latest()
    )
    def spec(parameters: (String, String)*): SamplerSpec = {
      val map = new java.util.HashMap[String, String]()
      parameters.foreach(parameter => map.put(parameter._1, parameter._2))
      SamplerSpec.of("weighted", map)
    }
    val conf = spec("seed" -> "3", "weightsField" -> "w")
    val opened = OpenSamplers.of(snapshot, conf)
    val cut = spec("seed" -> "3", "weightsField" -> "w", "numSamples" -> "5")
    assert(OpenSamplers.of(snapshot, cut) eq opened)
    assert(!(OpenSamplers.of(snapshot, spec("seed" -> "4", "weightsField" -> "w")) eq opened))
    val older = new SnapshotId(snapshot.location(), 0, snapshot.commitId())
    assert(failure(OpenSamplers.of(older, conf)).contains("made anew"))
  }

  testLocally("older versions, stores and tables of SQL are sampled as well") {
    val first = read(path, "sampler" -> "shuffle", "versionAsOf" -> "0")
    assert(indices(first) == expected(Samplers.shuffle(1000, 42), 0))
    val options = Map("sampler" -> "shuffle", "numSamples" -> "10")
    val table = spark.read.options(options).table(s"zrecord.`$path`")
    assert(indices(table) == expected(Samplers.shuffle(length, 42).take(10), 0))
    val store = freshPath()
    val schema = io.zrecord.schema.RecordSchema
      .builder()
      .field("id", io.zrecord.schema.ElementType.I64)
      .build()
    val online = io.zrecord.store.RecordStore.create(
      java.nio.file.Paths.get(store),
      schema,
      io.zrecord.store.StoreOptions.defaults()
    )
    try {
      for (i <- 0 until 20) online.append(online.newValues().set("id", i.toLong))
      online.commit()
    } finally online.close()
    val ids = read(store, "sampler" -> "shuffle").select("id").collect().map(_.getLong(0)).toSeq
    assert(ids == expected(Samplers.shuffle(20, 42), 0))
  }

  test("an empty dataset has no samples") {
    val empty = freshPath()
    write(spark.range(0).toDF(), empty, "append")
    assert(read(empty, "sampler" -> "shuffle").collect().isEmpty)
    assert(read(empty, "sampler" -> "shuffle").count() == 0)
    val none = failure(read(empty, "sampler" -> "random", "numSamples" -> "5").collect())
    assert(none.contains("numSamples") && none.contains("0 positions"), none)
  }

  test("what does not fit is refused, with a remedy") {
    def refused(options: (String, String)*)(words: String*): Unit = {
      val message = failure(read(path, options: _*).collect())
      words.foreach(word => assert(message.contains(word), message))
    }
    refused("sampler" -> "shufle")("'shufle'", "use one of sequential, sliding, random, global")
    refused("seed" -> "1")("Option seed", "with the option sampler only")
    refused("sampler" -> "shuffle", "window" -> "3")(
      "window",
      "does not go with the sampler shuffle"
    )
    refused("sampler" -> "shuffle", "weightsField" -> "w")("weightsField", "shuffle")
    refused("sampler" -> "shuffle", "indices" -> "1")("indices", "use one of them")
    refused("sampler" -> "random")("the sampler random needs numSamples")
    refused("sampler" -> "shuffle", "window" -> "3", "stride" -> "3")("window, stride do not go")
    refused("sampler" -> "balanced")("needs labelsField, batchSize, numSamples")
    refused("sampler" -> "global", "numSamples" -> "5")("add batchSize")
    refused("sampler" -> "shuffle", "rank" -> "0")("needs rank, worldSize; add worldSize")
    refused("sampler" -> "shuffle", "remainder" -> "pad")("needs rank, worldSize")
    refused("sampler" -> "shuffle", "rank" -> "2", "worldSize" -> "2")("rank is 2", "[0, 1]")
    refused(
      "sampler" -> "shuffle",
      "rank" -> "0",
      "worldSize" -> "2",
      "remainder" -> "keep"
    )("'keep'", "drop, pad, uneven")
    refused("sampler" -> "shuffle", "epoch" -> "-1")("epoch", "'-1'", "from 0 on")
    refused("sampler" -> "shuffle", "seed" -> "x")("seed", "'x'", "whole number")
    refused("sampler" -> "shuffle", "numSamples" -> "3001")("numSamples", "0 to 3000")
    refused("sampler" -> "shuffle", "numSamples" -> "10", "startPosition" -> "11")("0 to 10")
    refused("sampler" -> "sequential", "to" -> "3001")("3001", "0 to 2999")
    refused("sampler" -> "sequential", "step" -> "0")("step is 0")
    refused("sampler" -> "sliding", "window" -> "3001", "stride" -> "1")("window is 3001")
    refused("sampler" -> "blockShuffle", "blockLength" -> "0", "mixed" -> "1")("blockLength is 0")
    refused("sampler" -> "stratified", "labelsField" -> "l", "batchSize" -> "0")("is 0", "[1, ")
    refused("sampler" -> "stratified", "labelsField" -> "x", "batchSize" -> "9")("no field 'x'")
    refused("sampler" -> "stratified", "labelsField" -> "s", "batchSize" -> "9")("'s'", "utf8")
    refused("sampler" -> "stratified", "labelsField" -> "w", "batchSize" -> "9")(
      "record 1 has 0.5",
      "whole numbers"
    )
    refused("sampler" -> "weighted", "weightsField" -> "l", "numSamples" -> "9")(
      "weight 3 is -5.0",
      "[0, infinity)"
    )
    val several = spark.read.format("zrecord").option("sampler", "shuffle").load(path, path)
    assert(failure(several.collect()).contains("load one path"))
    val nulls = freshPath()
    write(spark.range(10).selectExpr("id", "if(id = 4, null, 1) w"), nulls, "append")
    val absent = read(nulls, "sampler" -> "weighted", "weightsField" -> "w", "numSamples" -> "5")
    assert(failure(absent.collect()).contains("record 4 has no value"))
  }

  test("every parameter of samplers is an option, whose name Spark compares without case") {
    for (parameter <- SamplerParameter.values() if parameter != SamplerParameter.SAMPLER) {
      val message = failure(read(path, parameter.text().toUpperCase -> "1").collect())
      assert(message.contains(s"Option ${parameter.text()} goes with the option sampler"), message)
    }
  }

  test("the names of metadata columns are taken") {
    val data = spark.range(3).selectExpr("id _position")
    assert(failure(write(data, freshPath(), "append")).contains("the name of a metadata column"))
  }

  test("defaults of the session that do not fit a sampler are left out") {
    spark.conf.set("spark.datasource.zrecord.seed", "8")
    spark.conf.set("spark.datasource.zrecord.batchSize", "16")
    try {
      assert(read(path).count() == length)
      val data = read(path, "sampler" -> "shuffle")
      assert(indices(data) == expected(Samplers.shuffle(length, 8), 0))
    } finally {
      spark.conf.unset("spark.datasource.zrecord.seed")
      spark.conf.unset("spark.datasource.zrecord.batchSize")
    }
  }

  test("a data frame is a feed: one partition at a time, in the order of the sampler") {
    val partitions = 30
    val rowsOfPartition = length / partitions
    SamplerSuite.seen.set(0)
    val data = read(path, "sampler" -> "shuffle", "numPartitions" -> s"$partitions")
      .select(SamplerSuite.count(org.apache.spark.sql.functions.col("id")).as("id"))
    val rows = data.toLocalIterator()
    val order = expected(Samplers.shuffle(length, 42), 0)
    for ((index, position) <- order.zipWithIndex) {
      assert(rows.next().getLong(0) == index)
      val most = (position / rowsOfPartition + 1) * rowsOfPartition
      assert(SamplerSuite.seen.get() <= most, s"ahead of position $position")
    }
    assert(!rows.hasNext())
    // A control: without partitions all rows are there at once.
    SamplerSuite.seen.set(0)
    data.collect()
    assert(SamplerSuite.seen.get() == length)
  }
}

object SamplerSuite {
  val seen = new java.util.concurrent.atomic.AtomicInteger()

  /** Counts the rows that passed. The session runs in this process. */
  val count = org.apache.spark.sql.functions.udf((id: Long) => {
    seen.incrementAndGet()
    id
  })
}
