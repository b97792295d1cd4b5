package io.zrecord.spark

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery

/** Scans with conditions look at the values of narrow columns first, and read the other columns of
  * the records that are left. The conditions come from the query, or from the other side of a join
  * while the query runs.
  */
class FilteredScansSuite extends SparkSuite {
  private val seed = Budget.seed

  override protected def configuration: Map[String, String] = CountingFileSystem.Settings

  private def sql(text: String): DataFrame = spark.sql(text)

  private val records = 20000
  private val imageBytes = 4096

  /** Records with labels in no order and a large value each. */
  private lazy val images: String = imagesAt(freshPath())

  private def imagesAt(path: String): String = {
    val hex = (0 until imageBytes / 32).map(i => s"md5(concat(id, '-$i'))").mkString(", ")
    write(
      spark
        .range(0, records, 1, 1)
        .selectExpr(
          "id",
          "cast(id * 7919 % 100 as int) label",
          "concat('kind-', id * 104729 % 200) kind",
          "if(id % 3 = 0, null, id / 2) score",
          s"cast(concat($hex) as binary) image"
        ),
      path,
      "append"
    )
    path
  }

  private val conditions = Seq(
    "label = 7",
    "label in (3, 50, 51, null)",
    "label < 2 or label > 98",
    "kind = 'kind-17'",
    "kind in ('kind-1', 'kind-3', 'nothing')",
    "kind like 'kind-19%' and label > 50",
    "label = 7 and image is not null",
    "label = 7 and length(image) > 0",
    "score < 100",
    "score is null and label = 3",
    "id between 100 and 120 or label = 7",
    "not (label > 1)",
    "label = 1000"
  )

  test("a condition on narrow columns reads the large values of the records that are left") {
    val data = read(images)
    // All values of the columns of the conditions, and a page for the places of each value.
    val narrow = records * (8L + 4 + 8 + 20)
    for (condition <- conditions) {
      val query = data.where(condition).select("id", "image")
      val rows = query.collect().length
      val found = ScanPlans.metrics(query)
      assert(found("records") == rows, condition)
      assert(found("records") + found("recordsSkipped") == records, condition)
      assert(found("bytesRead") <= 1.2 * rows * (imageBytes + 40) + narrow, condition)
    }
  }

  testLocally("from afar a condition asks for the units of the records that are left") {
    val path = imagesAt("count://" + freshLocalPath())
    def metrics(query: DataFrame): Map[String, Long] = {
      query.collect()
      ScanPlans.metrics(query)
    }
    // The unit of a checksum, and what lies between ranges that become one request.
    val (unit, gap) = (64 << 10, 256 << 10)
    val all = records * (imageBytes + 44L)
    for (condition <- conditions) {
      val found = metrics(read(path).where(condition).select("id", "image"))
      val near = if (condition == "label = 7") 0 else gap // Their records are far apart.
      val most = math.min(all, found("records") * (imageBytes + unit + near))
      assert(found("bytesRequested") <= most + records * 40L, condition)
      // A request for each, and those for the narrow columns and for what the files are.
      assert(found("requests") <= found("records") + 30, condition)
    }
    // What was fetched before is not asked for again.
    val scan = metrics(read(path, "statistics" -> "false").select("image"))
    assert(scan("requests") <= 30, scan)
  }

  test("a condition that leaves most records, or is on wide columns alone, reads ranges") {
    val data = read(images)
    for (condition <- Seq("label < 99", "label is not null", "image = X'00'", "id >= 0")) {
      val query = data.where(condition).select("id", "image")
      query.collect()
      assert(ScanPlans.metrics(query)("records") == records, condition)
    }
    // Narrow columns are read in ranges unless few records are left.
    val few = data.where("label = 7").select("id")
    val many = data.where("label < 30").select("id")
    assert(few.collect().length == 200 && ScanPlans.metrics(few)("records") == 200)
    assert(many.collect().length == 6000 && ScanPlans.metrics(many)("records") == records)
  }

  test(s"what is found is what a scan without statistics finds, whatever happened (seed $seed)") {
    val random = new Random(seed)
    val path = freshPath()
    val all = spark.range(0, 6000, 1, 1)
    val columns = Seq(
      "id",
      "cast(id * 7919 % 20 as int) label",
      "concat('kind-', id * 104729 % 30) kind",
      "if(id % 3 = 0, null, id / 2) score",
      "cast(repeat(cast(id as string), 40) as binary) image"
    )
    for (part <- 0 until 3)
      write(all.where(s"id % 3 = $part").selectExpr(columns: _*), path, "append")
    val table = s"zrecord.`$path`"
    val happened = Seq(
      s"delete from $table where id % 5 = 1",
      s"update $table set label = 19 - label where id % 4 = 0",
      s"update $table set kind = null, score = id where id % 7 = 0",
      s"alter table $table add columns (extra int default 3, later string)",
      s"insert into $table values (9000, 5, 'kind-5', 1.0, X'00', null, 'x')",
      s"alter table $table alter column label type bigint",
      s"update $table set extra = 4 where id % 100 = 3",
      s"alter table $table rename column kind to sort",
      s"update $table set label = 8000000000 where id = 9000"
    )
    def compare(kind: String, more: Seq[String]): Unit = {
      val leaves = more ++ Seq(
        "label = 7",
        "label in (1, 2, 19)",
        s"$kind = 'kind-7'",
        s"$kind is null",
        s"$kind > 'kind-25'",
        "score < 300",
        "score is not null",
        s"id < ${random.nextInt(6000)}",
        s"id in (${Seq.fill(30)(random.nextInt(6000)).mkString(", ")})",
        "length(image) > 100"
      )
      def any = leaves(random.nextInt(leaves.size))
      val nests = Seq.fill(3)(s"($any or $any) and $any") :+ s"not ($any) and $any"
      val tried = random.shuffle(leaves).take(4) ++ nests
      for (condition <- tried; wanted <- Seq(Seq("id", "image"), Seq("id"))) {
        def found(options: (String, String)*) =
          read(path, options: _*).where(condition).selectExpr(wanted: _*).collect().toSeq
        assert(found() == found("statistics" -> "false"), s"$condition after changes")
      }
    }
    compare("kind", Nil)
    happened.zipWithIndex.foreach { case (statement, i) =>
      sql(statement)
      val kind = if (i >= 7) "sort" else "kind"
      compare(kind, if (i >= 3) Seq("extra = 3", "extra is null", "later is null") else Nil)
    }
  }

  test("samples, limits and the order of rows stay those of the query") {
    val data = read(images)
    assert(
      data.where("label = 7").select("id", "image").limit(3).collect().map(_.getLong(0)).toSeq ==
        data
          .select("id", "label")
          .collect()
          .filter(_.getInt(1) == 7)
          .map(_.getLong(0))
          .take(3)
          .toSeq
    )
    val sampled = s"select id, image from zrecord.`$images` tablesample (30 percent) repeatable (5)"
    val all = sql(
      s"select id, label, image from zrecord.`$images` tablesample (30 percent)" +
        " repeatable (5)"
    ).collect()
    assert(
      sql(s"$sampled where label = 7").collect().map(_.getLong(0)).toSeq ==
        all.filter(_.getInt(1) == 7).map(_.getLong(0)).toSeq
    )
  }

  // Joins.

  /** Keys of which a query wants some, so that Spark finds it worth while to wait for them. */
  private def withKeys(test: String => Unit): Unit = {
    val path = freshLocalPath()
    spark
      .range(0, 3000)
      .selectExpr(
        "id % 10 part",
        "id * 6 key",
        "cast(id * 6 % 100 as int) small",
        "concat('kind-', id % 3) name"
      )
      .write
      .parquet(path)
    val keys = freshTable()
    spark.read.parquet(path).createOrReplaceTempView(keys)
    test(keys)
  }

  private def withoutPruning[T](action: => T): T = {
    val key = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
    spark.conf.set(key, "false")
    try action
    finally spark.conf.unset(key)
  }

  test("a join reads the large values of the records whose keys the other side has") {
    withKeys { keys =>
      for (
        (on, kept) <- Seq(
          "t.id = k.key and k.part = 3" -> 300,
          "t.kind = k.name and k.key = 600" -> 100,
          "t.label = k.small and k.key = 600" -> 200
        )
      ) {
        val text = s"select t.id, t.image from zrecord.`$images` t join $keys k on $on"
        val query = sql(text)
        val rows = query.collect()
        val scan = ScanPlans.only(query)
        assert(scan.runtimeFilters.nonEmpty, text)
        val found = scan.metrics.map { case (name, metric) => name -> metric.value }
        assert(found("records") == kept, text)
        assert(
          found("bytesRead") <= 1.2 * found("records") * (imageBytes + 40) + records * 40L,
          text
        )
        val plain = withoutPruning(sql(text).collect())
        assert(rows.map(_.getLong(0)).sorted.toSeq == plain.map(_.getLong(0)).sorted.toSeq, text)
      }
    }
  }

  test("joins of every kind have the rows that they have without conditions at run time") {
    withKeys { keys =>
      val t = s"zrecord.`$images`"
      // A scan must be large to take conditions.
      val image = "length(t.image)"
      val queries = Seq(
        s"select t.id, $image, k.key from $t t join $keys k on t.id = k.key where k.part = 3",
        s"select t.id, $image, k.key from $t t left join $keys k on t.id = k.key and k.part = 3",
        s"select t.id, $image, k.key from $keys k left join $t t on t.id = k.key where k.part = 3",
        s"select t.id, $image from $t t left semi join $keys k on t.id = k.key and k.part = 3",
        s"select t.id, $image from $t t left anti join $keys k on t.id = k.key and k.part = 3",
        s"select t.id, $image, k.key from $t t full join $keys k on t.id = k.key and k.part = 3",
        s"select id, $image from $t t where id in (select key from $keys where part = 3)",
        s"select id, $image from $t t where id not in (select key from $keys where part = 3)",
        s"select t.label, count(*), sum($image) from $t t join $keys k on t.label = k.small" +
          " where k.part = 2 group by t.label",
        s"select t.id, b.id, $image from $t t join $t b on t.id = b.id join $keys k" +
          " on t.id = k.key where k.part = 3 and b.label = 42",
        s"select t.id, $image from (select * from $t limit 500) t join $keys k on t.id = k.key" +
          " where k.part = 3",
        s"select t.id, $image from $t tablesample (50 percent) repeatable (3) t join $keys k" +
          " on t.id = k.key where k.part = 3",
        s"select id, $image from $t t join $keys k on t.id = k.key where k.part = 3 union all" +
          s" select id, $image from $t t join $keys k on t.id = k.key where k.part = 4"
      )
      for (text <- queries; adaptive <- Seq("true", "false")) {
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        try {
          def rows = sql(text).collect().map(_.toSeq.mkString(",")).sorted.toSeq
          val found = rows
          assert(found.nonEmpty && found == withoutPruning(rows), text)
        } finally spark.conf.unset("spark.sql.adaptive.enabled")
      }
    }
  }

  test("a query that is run again, and one with more keys than tasks are given, find the same") {
    withKeys { keys =>
      val query = sql(
        s"select t.id, length(t.image) from zrecord.`$images` t join $keys k on t.id = k.key" +
          " where k.part = 3"
      )
      val first = query.collect().toSet
      assert(query.collect().toSet == first && query.count() == first.size && first.size == 300)
    }
    val many = freshTable()
    spark.range(0, 200000).selectExpr("id % 2 part", "id * 3 key").createOrReplaceTempView(many)
    val joined = sql(
      s"select t.id, length(t.image) from zrecord.`$images` t join $many k on t.id = k.key" +
        " where k.part = 0"
    )
    val found = joined.collect()
    assert(ScanPlans.only(joined).runtimeFilters.nonEmpty)
    assert(found.map(_.getLong(0)).toSet == (0L until records by 6).toSet)
    assert(found.length == (0 until records by 6).size && found.forall(_.isInstanceOf[Row]))
  }

  test("a join with small tables takes no conditions from them, of which each doubles the plan") {
    val numbers = freshPath()
    write(spark.range(0, 100, 1, 1).selectExpr("cast(id as int) id"), numbers, "append")
    withKeys { keys =>
      val joins = (1 to 9).map(i => s" join zrecord.`$numbers` d$i on t.label = d$i.id")
      val text = s"select t.id, length(t.image) from zrecord.`$images` t" +
        s" join $keys k on t.id = k.key" + joins.mkString + " where k.part = 3"
      val query = sql(text)
      val conditions = query.queryExecution.optimizedPlan.collectWithSubqueries { case node =>
        node.expressions.flatMap(_.collect { case found: DynamicPruningSubquery => found })
      }.flatten
      // The condition on the images: their labels are narrowed down by no small table.
      assert(conditions.size == 1)
      def ids = sql(text).collect().map(_.getLong(0)).sorted.toSeq
      assert(ids == withoutPruning(ids) && ids.size == 300)
    }
  }

  test("a recursive query, which runs its scan once for each level, finds all levels") {
    assume(loadsAgain, "recursive queries are new in Spark 4.1")
    val path = freshPath()
    val levels = (0 until 4).map { level =>
      spark
        .range(0, 200, 1, 1)
        .selectExpr(
          s"id + ${level * 1000} id",
          if (level == 0) "cast(null as bigint) parent" else s"id + ${level * 1000 - 1000} parent",
          s"$level part",
          s"cast(repeat('x', 1000) as binary) image"
        )
    }
    levels.reduce(_ union _).write.format("zrecord").partitionBy("part").save(path)
    val t = s"zrecord.`$path`"
    for (
      hint <- Seq("", "/*+ broadcast(r) */");
      join <- Seq(
        s"$t t join r on t.parent = r.id",
        s"r join $t t on t.parent = r.id",
        s"$t t join r on t.parent = r.id and t.part = r.lvl + 1"
      )
    ) {
      val text = s"with recursive r as (select id, 0 lvl from $t where parent is null union all " +
        s"select $hint t.id, lvl + 1 from $join where r.lvl < 5) select lvl, count(*) from r " +
        "group by lvl order by lvl"
      assert(sql(text).collect().toSeq == (0 until 4).map(Row(_, 200L)), text)
    }
  }

  test("a join by partitions that leaves one of them reads it in as many tasks as planned") {
    val path = freshPath()
    spark
      .range(0, 8 * 1024, 1, 8)
      .selectExpr("id", "id div 1024 part", "cast(repeat('x', 4096) as binary) image")
      .write
      .format("zrecord")
      .partitionBy("part")
      .save(path)
    val settings = Seq("bucketing.enabled", "bucketing.pushPartValues.enabled")
      .map("spark.sql.sources.v2." + _)
    settings.foreach(spark.conf.set(_, "true"))
    try {
      withKeys { keys =>
        val t = s"zrecord.`$path`"
        val query = sql(
          s"select count(*), sum(length(a.image)), sum(length(b.image)) from $t a join $t b " +
            s"on a.part = b.part and a.id = b.id join $keys k on a.part = k.part where k.key = 18"
        )
        assert(query.collect().toSeq == Seq(Row(1024L, 4194304L, 4194304L)))
      }
    } finally settings.foreach(spark.conf.unset)
  }
}
