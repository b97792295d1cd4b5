package io.zrecord.spark

import java.nio.file.{Files, Paths}

import scala.util.Random

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{Compression, ElementType, FieldRules, FieldSpec, RecordSchema, Shape}
import io.zrecord.shard.WriteOptions
import io.zrecord.storage.local.LocalStorage
import io.zrecord.store.{RecordStore, StoreOptions}
import io.zrecord.table.{RecordTable, RowChange}
import io.zrecord.testing.Budget
import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.functions.{coalesce, col, expr, lit, not}

/** Conditions on values pass over blocks of records, and change no result. */
class ValuePushdownSuite extends SparkSuite {
  // Timestamps of all numbers of microseconds exist in this API only.
  override protected def configuration: Map[String, String] =
    super.configuration + ("spark.sql.datetime.java8API.enabled" -> "true")

  private val seed = Budget.seed
  private def random: Random = chance

  private def isSpark4 = spark.version.takeWhile(_ != '.').toInt >= 4

  private def table(path: String) = tableAt(path)

  private def rowsOf(query: DataFrame): Seq[Long] =
    query.select("row").collect().map(_.getLong(0)).toSeq

  /** Returns the metrics of a query that reads something, if Spark has not answered it before. */
  private def metrics(query: DataFrame): Map[String, Long] = {
    val selected = query.select("row")
    selected.collect()
    if (selected.queryExecution.executedPlan.toString.contains("BatchScan"))
      ScanPlans.metrics(selected)
    else Map("records" -> 0L, "recordsSkipped" -> 0L)
  }

  private val collected = new java.util.IdentityHashMap[DataFrame, java.util.List[Row]]()

  private def rowsIn(data: DataFrame): java.util.List[Row] =
    collected.computeIfAbsent(data, _ => java.util.Arrays.asList(data.collect(): _*))

  /** Returns the same rows in memory, of which Spark knows nothing. */
  private def inMemory(data: DataFrame): DataFrame =
    spark.createDataFrame(rowsIn(data), data.schema)

  /** Returns how many records were passed over, after comparing all results. */
  private def requireSame(data: DataFrame, conditions: Seq[Column]): Long = {
    val flags = conditions.map(condition => coalesce(condition, lit(false)))
    val expected = inMemory(data).select(col("row") +: flags: _*).collect()
    conditions.zipWithIndex.map { case (condition, i) =>
      val query = data.where(condition).select("row")
      val found = query.collect().map(_.getLong(0)).toSeq
      val rows = expected.toSeq.filter(_.getBoolean(i + 1)).map(_.getLong(0))
      assert(found == rows, s"seed $seed: $condition")
      if (query.queryExecution.executedPlan.toString.contains("BatchScan"))
        ScanPlans.metrics(query)("recordsSkipped")
      else 0L
    }.sum
  }

  private val columns = ExtremeValues.types.map(_._1)

  /** A table of small shards, each with few of the values of every type, some shards with none. */
  private lazy val everyType: String = {
    val path = freshPath()
    val schema = columns.zip(ExtremeValues.types.map(_._2)).foldLeft(RecordSchema.builder()) {
      case (builder, (name, kind)) => builder.field(name, kind)
    }
    val writer = RecordDatasetWriter
      .create(
        filesOf(path).storage,
        schema.field("row", ElementType.I64).build(),
        WriteOptions.defaults()
      )
    try {
      val pools = ExtremeValues.types.map { case (name, kind) =>
        name -> ExtremeValues.of(kind, random)
      }
      val appenders = Seq.fill(12)(writer.newAppender())
      appenders.zipWithIndex.foreach { case (appender, shard) =>
        val few = pools.map { case (name, values) =>
          val absent = random.nextInt(6) match {
            case 0 => 1
            case 1 | 2 => 0
            case _ => 3
          }
          (name, Seq.fill(1 + random.nextInt(2))(values(random.nextInt(values.size))), absent)
        }
        (0 until 20).foreach { i =>
          few.foreach { case (name, values, absent) =>
            if (absent == 0 || absent > 1 && random.nextInt(absent) > 0)
              appender.set(name, values(random.nextInt(values.size)))
          }
          appender.set("row", 20L * shard + i).endRecord()
        }
      }
      writer.commit()
    } finally writer.close()
    path
  }

  private def named(column: String): Column = col(s"`$column`")

  /** Returns values of a column to compare with, as the literals that Spark makes of them. */
  private def literals(data: DataFrame, name: String): IndexedSeq[Column] = {
    val dataType = data.schema(name).dataType
    val at = data.schema.fieldIndex(name)
    val values = rowsIn(data).toArray(Array.empty[Row]).map(_.get(at)).filter(_ != null).distinct
    val edges: Seq[Any] = dataType.typeName match {
      case "float" | "double" => Seq(Double.NaN, -0.0, 0.0, 1e300, Double.NegativeInfinity)
      case "string" => Seq("", "aaaaaaaaaaaaaaaaaaaa", "\udbff\udfff")
      case "byte" | "short" | "integer" | "long" => Seq(0, 1, 127)
      case _ => Nil
    }
    (values.toSeq ++ edges).map(value => lit(value).cast(dataType)).toIndexedSeq
  }

  private def leaf(data: DataFrame, name: String, values: IndexedSeq[Column]): Column = {
    val column = named(name)
    def value = if (random.nextInt(25) == 0) lit(null) else values(random.nextInt(values.size))
    val isText = data.schema(name).dataType.typeName == "string"
    random.nextInt(if (isText) 15 else 13) match {
      case 0 => column === value
      case 1 => column <=> value
      case 2 => column =!= value
      case 3 => column < value
      case 4 => column <= value
      case 5 => column > value
      case 6 => column >= value
      case 7 => column.isNull
      case 8 => column.isNotNull
      case 9 => column.between(value, value)
      case 10 => column.isin(Seq.fill(1 + random.nextInt(3))(value): _*)
      case 11 => column.isin(Seq.fill(15)(value): _*)
      case 12 => value < column
      case 13 => column.startsWith(value)
      case _ => column.startsWith(value.substr(1, 1))
    }
  }

  private def tree(leaf: => Column, depth: Int): Column =
    if (depth == 0 || random.nextInt(4) == 0) leaf
    else
      random.nextInt(3) match {
        case 0 => tree(leaf, depth - 1) && tree(leaf, depth - 1)
        case 1 => tree(leaf, depth - 1) || tree(leaf, depth - 1)
        case _ => not(tree(leaf, depth - 1))
      }

  testLocally(s"every condition on every type selects what it says (seed $seed)") {
    val data = read(everyType)
    // Types of which no statistics are kept.
    val unordered = Set("f16", "bf16", "bytes") ++ columns.filter(_.startsWith("decimal"))
    for (name <- columns) {
      val values = literals(data, name)
      val column = named(name)
      val all = values.flatMap(value =>
        Seq(column === value, column < value, column <= value, column > value, column >= value)
      )
      val some = random.shuffle(all).take(Budget.of(8))
      val others = Seq.fill(Budget.of(5))(leaf(data, name, values))
      val skipped = requireSame(data, some)
      requireSame(data, others)
      // A comparison passes over records without a value, whatever the type.
      val absent = rowsIn(data).stream.filter(_.isNullAt(data.schema.fieldIndex(name))).count()
      if (unordered(name)) assert(skipped <= some.size * absent, s"seed $seed: $name")
    }
  }

  testLocally(s"nests of conditions on all columns select what they say (seed $seed)") {
    val data = read(everyType)
    val values = columns.map(name => name -> literals(data, name)).toMap
    def any = {
      val name = columns(random.nextInt(columns.size))
      leaf(data, name, values(name))
    }
    requireSame(data, Seq.fill(Budget.of(40))(tree(any, 4)))
    // Conditions on few columns refute more.
    def few = {
      val name = Seq("i32", "f64", "utf8")(random.nextInt(3))
      leaf(data, name, values(name))
    }
    assert(requireSame(data, Seq.fill(20)(tree(few, 3))) > 0)
  }

  private val block = 65536
  private val length = 3 * block + 1000

  /** One shard of four blocks, in whose fields values rise. */
  private lazy val rising: String = {
    val path = freshPath()
    write(
      spark
        .range(0, length, 1, 1)
        .selectExpr(
          "id row",
          "cast(id as double) / 4 fraction",
          "cast(id as decimal(20, 2)) money",
          "concat('the same beginning of ', lpad(string(id), 9, '0')) long_text",
          "concat(lpad(string(id), 9, '0'), ' 标签 🙂') text",
          "date_add(date'1990-01-01', cast(id / 1000 as int)) day",
          "timestamp_micros(id * 1000000) at",
          "cast(timestamp_micros(id * 1000000) as timestamp_ntz) local",
          s"id >= ${2 * block} flag",
          s"if(id < $block, null, id) sparse"
        ),
      path,
      "append"
    )
    path
  }

  test("a selective query reads only the blocks that may match") {
    val third = block.toLong
    val cases = Seq(
      s"row = ${2 * block + 5}" -> third,
      s"row between ${2 * block - 1} and ${2 * block}" -> 2 * third,
      s"row >= ${3 * block}" -> 1000L,
      s"row > ${3 * block - 1}" -> 1000L,
      s"row < $block" -> third,
      s"row in (7, ${3 * block + 1}, null)" -> (third + 1000),
      s"not (row >= $block and row <= ${3 * block - 1})" -> (third + 1000),
      s"row < 0 or row > $length" -> 0L,
      s"${3 * block} <= row" -> 1000L,
      // Columns no larger than the one that is wanted are looked at before, record by record.
      s"fraction < 10" -> 40L,
      s"fraction = double('NaN')" -> 0L,
      s"text = '000000007 标签 🙂'" -> third,
      s"text in ('000000007 标签 🙂', null)" -> third,
      s"text in ('000000007 标签 🙂', null) or (row = 3 and text < 'b')" -> third,
      s"text like '000000007%'" -> third,
      s"text like '00000000%'" -> third,
      s"day = date'1990-01-02'" -> 1000L,
      s"at >= timestamp'1970-01-03 06:40:00'" -> 1000L,
      s"local >= timestamp_ntz'1970-01-03 06:40:00'" -> 1000L,
      s"not flag" -> 2 * third,
      s"flag" -> (third + 1000),
      s"sparse is null" -> third,
      s"sparse is not null" -> (length - third),
      s"sparse is null and row > 70000" -> 0L
    )
    for ((condition, records) <- cases) {
      val found = metrics(read(rising).where(condition))
      assert(found("records") == records, condition)
      if (found("records") > 0) assert(found("recordsSkipped") == length - records, condition)
    }
  }

  testLocally(
    "controls: without statistics, or without a condition they know, all records are read"
  ) {
    for (
      condition <- Seq(
        s"money = 7",
        s"row % 1000 = 7",
        s"abs(row) = 7",
        s"row = 7 or row % 1000 = 7",
        s"row = 7 or money = 7",
        s"text like '%7%'",
        // The first 16 bytes say nothing.
        s"long_text = 'the same beginning of 000000007'"
      )
    ) {
      val found = metrics(read(rising).where(condition))
      assert(found("records") == length, condition)
      assert(found("recordsSkipped") == 0, condition)
      assert(rowsOf(read(rising).where(condition)).contains(7L), condition)
    }
    // A store keeps no statistics.
    val path = freshPath()
    val schema = RecordSchema.builder().field("row", ElementType.I64).build()
    val store = RecordStore.create(Paths.get(path), schema, StoreOptions.defaults())
    try {
      (0 until 10).foreach(row => store.append(store.newValues().set("row", row.toLong)))
    } finally store.close()
    assert(rowsOf(read(path).where("row = 3")) == Seq(3L))
    assert(metrics(read(path).where("row = 300"))("records") == 10)
  }

  testLocally("damaged statistics are reported, and the option statistics does without them") {
    val path = freshPath()
    write(spark.range(0, 1000, 1, 1).selectExpr("id row"), path, "append")
    val tables = filesBelow(path).find(_.toString.endsWith(".tables")).get
    val bytes = Files.readAllBytes(tables)
    bytes(sectionOf(tables, 1, "statistics") + 20) = 1
    Files.write(tables, bytes)
    def found(options: (String, String)*) = read(path, options: _*).where("row = 2000")
    assert(failure(found().collect()).contains("statistics of field 1"))
    assert(read(path).count() == 1000)
    assert(found("statistics" -> "false").collect().isEmpty)
    assert(metrics(found("statistics" -> "False"))("records") == 1000)
    assert(failure(found("statistics" -> "perhaps").collect()).contains("use true or false"))
  }

  test("texts are compared by their bytes, whatever they begin with") {
    val stems = Seq("", "a", "é", "\ud7ff", "\ue000", "\uffff", "🙂", "\udbff\udfff", "x" * 16)
    val texts = for (a <- stems; b <- stems; c <- Seq("", "!", "\udbff\udfff")) yield a + b + c
    val path = freshPath()
    // Shards of few texts each, by their bytes.
    val sorted = texts.sortBy(_.getBytes("UTF-8").map(byte => f"${byte & 0xff}%02x").mkString)
    val rows = sorted.zipWithIndex.map { case (text, row) => Row(row.toLong, text) }
    val schema = read(rising).select("row", "text").schema
    write(
      spark.createDataFrame(spark.sparkContext.parallelize(rows, 40), schema),
      path,
      "append"
    )
    val data = read(path)
    val values = texts.distinct ++ Seq("y" * 20, "x" * 15, "x" * 17)
    val conditions = values.flatMap(value =>
      random
        .shuffle(
          Seq(
            col("text").startsWith(value),
            col("text") === value,
            col("text") < value,
            col("text") >= value
          )
        )
        .take(1)
    ) :+ col("text").startsWith("\udbff\udfff")
    assert(requireSame(data, random.shuffle(conditions).take(Budget.of(150))) > 0)
    // Bytes that are no text have another order than the text that stands for them.
    for (operator <- Seq("<", "<=", ">", ">=", "=", "<=>"))
      requireSame(data, Seq(expr(s"text $operator cast(X'ff' as string)")))
    requireSame(data, Seq(expr("startswith(text, cast(X'f09f' as string))")))
  }

  test("a collation compares otherwise, and is left to Spark") {
    assume(isSpark4)
    val data = read(rising).select("row", "text").limit(100).selectExpr("row", "'ABC' text")
    val path = freshPath()
    write(data, path, "append")
    for (
      condition <- Seq(
        "text collate UTF8_LCASE = 'abc'",
        "text = 'abc' collate UTF8_LCASE",
        "text >= 'abc' collate UNICODE_CI",
        "text in ('abc' collate UTF8_LCASE)",
        "startswith(text, 'ab' collate UTF8_LCASE)"
      )
    ) assert(rowsOf(read(path).where(condition)).size == 100, condition)
    assert(metrics(read(path).where("text = 'abc'"))("records") == 0)
  }

  test(s"changed records and fields are found (seed $seed)") {
    val path = freshPath()
    def rows(from: Int) = spark
      .range(from, from + 100, 1, 1)
      .selectExpr("id row", "cast(id as int) v", "cast(id as float) f", "string(id) old", "1 gone")
    for (part <- 0 until 5) write(rows(100 * part), path, "append")
    val change = RowChange.of(table(path).latest())
    for (i <- 0 until 150) change.delete(i)
    change.update(320, "v", 7)
    change.update(321, "f", Float.NaN)
    change.update(322, "old", null)
    change.commit()
    table(path).renameField("old", "name")
    table(path).dropField("gone")
    table(path).promoteField("v", ElementType.I64)
    table(path).promoteField("f", ElementType.F64)
    table(path).addFields(
      java.util.List.of(
        new FieldSpec(
          1,
          "extra",
          ElementType.I32,
          Shape.scalar(),
          Compression.RAW,
          java.util.Map.of[String, String](),
          new FieldRules(true, "05000000", null, "")
        ),
        new FieldSpec(1, "gone", ElementType.UTF8, Shape.scalar(), Compression.RAW)
      )
    )
    write(
      spark
        .range(500, 600, 1, 1)
        .selectExpr(
          "id row",
          "id v",
          "double(id) f",
          "string(id) name",
          "cast(id as int) extra",
          "'x' gone"
        ),
      path,
      "append"
    )
    val data = read(path)
    assert(rowsOf(data.where("v = 7")) == Seq(320L))
    assert(rowsOf(data.where("f = double('NaN')")) == Seq(321L))
    assert(rowsOf(data.where("name is null")) == Seq(322L))
    assert(rowsOf(data.where("row < 152")) == Seq(150L, 151L))
    assert(data.where("extra = 5").count() == 350)
    assert(data.where("gone is null").count() == 350)
    assert(metrics(data.where("gone = 'x'"))("records") == 100)
    assert(metrics(data.where("row >= 550"))("records") == 100)
    assert(metrics(data.where("row < 152"))("records") == 50)
    val names = Seq("row", "v", "f", "name", "extra", "gone")
    val values = names.map(name => name -> literals(data, name)).toMap
    def any = {
      val name = names(random.nextInt(names.size))
      leaf(data, name, values(name))
    }
    assert(requireSame(data, Seq.fill(Budget.of(80))(tree(any, 3))) > 0)
  }

  test("samples, limits and counts are those of the same query without statistics") {
    val condition = s"row >= ${2 * block + 100}"
    // Statistics know nothing of absolute values.
    val unknown = s"abs(row) >= ${2 * block + 100}"
    def data = read(rising)
    assert(data.where(condition).count() == length - 2 * block - 100)
    val counted = data.where(condition).groupBy().count()
    assert(counted.queryExecution.executedPlan.toString.contains("BatchScan"))
    assert(rowsOf(data.where(condition).limit(3)) == (0 until 3).map(2L * block + 100 + _))
    assert(rowsOf(data.limit(10).where(condition)).isEmpty)
    assert(rowsOf(data.offset(2 * block + 99).limit(3).where(condition)).size == 2)
    for (replacement <- Seq(false, true)) {
      def sampled = data.sample(replacement, 0.01, 7)
      val drawn = rowsOf(sampled.where(condition))
      assert(drawn.nonEmpty)
      assert(drawn == rowsOf(sampled.where(unknown)))
      // Spark offers no condition above a sample of some columns.
      for ((tested, skipped) <- Seq(condition -> 2 * block, unknown -> 0)) {
        val query = sampled.where(tested)
        assert(query.collect().map(_.getAs[Long]("row")).toSeq == drawn)
        assert(ScanPlans.metrics(query)("recordsSkipped") == skipped)
      }
    }
    val shuffled = read(rising, "sampler" -> "shuffle", "seed" -> "3")
    assert(
      rowsOf(shuffled.where(s"row >= ${length - 5}")) ==
        rowsOf(shuffled.where(s"abs(row) >= ${length - 5}"))
    )
    assert(metrics(shuffled.where(condition))("recordsSkipped") == 0)
    val two = spark.read.format("zrecord").load(rising, rising)
    assert(rowsOf(two.where("row = 70000")) == Seq(70000L, 70000L))
    assert(metrics(two.where("row = 70000"))("records") == 2 * block)
    assert(
      two
        .where("row = 70000")
        .select("_index")
        .collect()
        .map(_.getLong(0))
        .toSeq == Seq(70000L, length + 70000L)
    )
    // Conditions on places go with conditions on values, also if they cannot be separated.
    assert(
      metrics(data.where(s"_index < 70000 and row >= $block"))("records") == 70000 - block
    )
    assert(rowsOf(data.where(s"_index = 5 or row = $block")) == Seq(5L, block.toLong))
    assert(rowsOf(data.where(s"row in (5, 6) and _index <> 5")) == Seq(6L))
  }

  test("the plan shows the conditions, which Spark evaluates as well") {
    val query = read(rising).where("row = 5 and text like '0%' and row % 2 = 1 and _index < 100")
    val plan = query.queryExecution.executedPlan.toString
    val pushed = plan.substring(plan.indexOf("PushedFilters: ["))
    for (part <- Seq("row = 5", "text LIKE '0%'", "row IS NOT NULL", "_index < 100"))
      assert(pushed.contains(part), plan)
    assert(plan.contains("Filter") && !pushed.takeWhile(_ != ']').contains("% 2"), plan)
    assert(rowsOf(query) == Seq(5L))
    val long = read(rising).where(col("row").isin((0 until 5000): _*))
    assert(ScanPlans.only(long).scan.description().length < 2000)
    assert(long.count() == 5000)
    // Scans with other conditions are other scans.
    val both = read(rising)
      .where("row = 5")
      .selectExpr("count(*) n")
      .union(read(rising).where("row in (6, 7)").selectExpr("count(*) n"))
    assert(both.collect().map(_.getLong(0)).toSeq == Seq(1L, 2L))
  }
}
