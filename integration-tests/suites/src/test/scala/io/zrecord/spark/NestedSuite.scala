package io.zrecord.spark

import java.sql.{Date, Timestamp}

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types._

/** Structs, maps, and arrays of anything. */
class NestedSuite extends SparkSuite {

  /** Random types and values. Tensors, which have no null elements, are not among the types. */
  private class Generator(seed: Long) {
    private val random = new Random(seed)

    private def scalar(): DataType = {
      val all = Seq(
        BooleanType,
        ByteType,
        ShortType,
        IntegerType,
        LongType,
        FloatType,
        DoubleType,
        DecimalType(7, 2),
        DecimalType(15, 3),
        DecimalType(30, 4),
        StringType,
        BinaryType,
        DateType,
        TimestampType
      )
      all(random.nextInt(all.size))
    }

    def nested(depth: Int, maps: Boolean = true): DataType = {
      def inner(m: Boolean = maps) =
        if (depth == 0 || random.nextInt(3) == 0) scalar() else nested(depth - 1, m)
      random.nextInt(if (maps) 3 else 2) match {
        case 0 => ArrayType(if (depth == 0) StringType else nested(depth - 1, maps), true)
        case 1 =>
          StructType((0 to random.nextInt(3)).map(k => StructField(s"m$k", inner(), true)))
        case _ => MapType(scalarKey(), inner(), true)
      }
    }

    /** Keys that are equal only if their bits are. */
    private def scalarKey(): DataType =
      Seq(IntegerType, LongType, StringType, DecimalType(30, 4))(random.nextInt(4))

    def value(dataType: DataType): Any = dataType match {
      case BooleanType => random.nextBoolean()
      case ByteType => random.nextInt().toByte
      case ShortType => random.nextInt().toShort
      case IntegerType => random.nextInt()
      case LongType => random.nextLong()
      case FloatType => random.nextFloat()
      case DoubleType => random.nextGaussian()
      case d: DecimalType =>
        new java.math.BigDecimal(new java.math.BigInteger(20, random.self), d.scale)
      case StringType => "é" * random.nextInt(4) + random.nextInt(1000)
      case BinaryType =>
        val bytes = new Array[Byte](random.nextInt(6))
        random.nextBytes(bytes)
        bytes
      case DateType => Date.valueOf("2020-02-29")
      case TimestampType => new Timestamp(random.nextInt(2000000000).toLong * 1000)
      case ArrayType(e, _) => Seq.fill(random.nextInt(4))(maybe(e))
      case MapType(k, v, _) =>
        Seq.fill(random.nextInt(4))(value(k)).distinct.map(key => key -> maybe(v)).toMap
      case StructType(fields) => Row(fields.toSeq.map(f => maybe(f.dataType)): _*)
      case other => throw new IllegalArgumentException(other.toString)
    }

    def maybe(dataType: DataType): Any =
      if (random.nextInt(5) == 0) null else value(dataType)
  }

  private def plain(value: Any): Any = value match {
    case b: Array[Byte] => ("bytes", b.toSeq)
    case r: Row => ("row", r.toSeq.map(plain))
    case m: scala.collection.Map[_, _] =>
      ("map", m.iterator.map { case (k, v) => plain(k) -> plain(v) }.toMap)
    case s: scala.collection.Seq[_] => ("seq", s.map(plain).toList)
    case d: java.math.BigDecimal => ("decimal", d.toPlainString)
    case other => other
  }

  private def frame(values: Seq[Any], dataType: DataType): DataFrame = {
    val schema = StructType(Seq(StructField("n", IntegerType), StructField("v", dataType)))
    val all = values.zipWithIndex.map { case (v, i) => Row(i, v) }
    spark.createDataFrame(spark.sparkContext.parallelize(all, 2), schema)
  }

  for (k <- 0 until Budget.of(12)) {
    val seed = Budget.seed + k
    test(s"random nested values of seed $seed come back equal, scanned and gathered") {
      val generator = new Generator(seed)
      val dataType = generator.nested(3)
      val values = Seq.fill(60)(generator.maybe(dataType))
      val compression = Seq("raw", "zstd", "lz4")(Math.floorMod(seed, 3))
      val path = freshPath()
      write(frame(values, dataType), path, "append", "compression" -> compression)
      val back = read(path)
      assert(back.schema("v").dataType.catalogString == dataType.catalogString)
      val found = back.orderBy("n").collect().map(row => plain(row.get(1))).toSeq
      assert(found == values.map(plain), dataType.catalogString)
      val some = Seq(0, 7, 30, 59)
      val gathered = back.where(col("_index").isin(some: _*)).orderBy("n").collect()
      assert(gathered.map(row => plain(row.get(1))).toSeq == some.map(i => plain(values(i))))
      // What was read is written again with the same fields.
      write(back, path, "append")
      assert(read(path).count() == 120)
    }
  }

  private def conversations: DataFrame = spark
    .range(0, 1000, 1, 3)
    .selectExpr(
      "id",
      """transform(sequence(0, cast(id % 4 as int)), t -> named_struct(
        'role', if(t % 2 = 0, 'user', 'assistant'),
        'text', if(t = 2, null, concat('turn ', id, ' ', t)),
        'scores', map('len', cast(t as double), 'id', cast(id as double)),
        'tokens', transform(sequence(0, t), k -> k + cast(id as int)))) as turns""",
      "named_struct('w', cast(id as int), 'h', if(id % 3 = 0, null, id)) as box",
      "if(id % 5 = 0, null, map('a', array(id, null))) as tags",
      "array('x', null, cast(id as string)) as words"
    )

  test("queries of nested columns answer as on the data itself") {
    val path = freshPath()
    val data = conversations.cache()
    write(data, path, "append")
    val queries = Seq(
      "select sum(box.w), sum(box.h), count(*) from %s where box.h > 10",
      "select turn.role, count(*), count(turn.text), sum(turn.scores['len']) from (select explode(turns) turn from %s) group by 1 order by 1",
      "select sum(aggregate(turns, 0L, (s, t) -> s + aggregate(t.tokens, 0L, (a, k) -> a + k))) from %s",
      "select count(*), sum(tags['a'][0]), sum(size(tags['a'])) from %s where tags is not null",
      "select id, words[2], element_at(turns, -1).text, map_keys(turns[0].scores) from %s order by id desc limit 20",
      "select a.id, b.box.w from %1$s a join %1$s b on a.box.w = b.box.w + 1 order by a.id limit 30",
      "select box, count(*) from %s group by box order by box.w limit 10",
      "select turns from %s order by id limit 50"
    )
    data.createOrReplaceTempView("held")
    read(path).createOrReplaceTempView("stored")
    for (query <- queries) {
      def answer(table: String) =
        spark.sql(query.replace("%1$s", table).replace("%s", table)).collect().map(plain).toSeq
      assert(answer("stored") == answer("held"), query)
    }
    data.unpersist()
  }

  test("other members, orders and types of a struct are refused in an append") {
    val path = freshPath()
    write(spark.range(3).selectExpr("named_struct('a', 1, 'b', 'x') as s"), path, "append")
    for (
      other <- Seq(
        "named_struct('a', 1)",
        "named_struct('b', 'x', 'a', 1)",
        "named_struct('a', 1L, 'b', 'x')",
        "array('x')"
      )
    ) {
      val message = failure(write(spark.range(1).selectExpr(s"$other as s"), path, "append"))
      assert(message.contains("'s'") && message.contains("struct<a:i32,b:utf8>"), message)
    }
    assert(read(path).count() == 3)
  }

  test("what is nested too deep, or has a type that is not stored, is refused at once") {
    val path = freshPath()
    def deep(levels: Int) = ("array(" * levels) + "'x'" + (")" * levels) + " as deep"
    write(spark.range(2).selectExpr(deep(8)), path, "append")
    assert(read(path).count() == 2)
    val other = freshPath()
    assert(failure(write(spark.range(1).selectExpr(deep(9)), other, "append")).contains("'deep'"))
    val interval = spark.range(1).selectExpr("named_struct('a', array(interval '1' day)) as s")
    assert(
      failure(write(interval, other, "append")).contains("cast(`s` as STRUCT<a: ARRAY<STRING>>)")
    )
    val shaped = spark.range(1).selectExpr("array('x') as words")
    assert(failure(write(shaped, other, "append", "shape.words" -> "1")).contains("'words'"))
    assert(filesOf(other).names.isEmpty)
  }

  test("a table of a catalog declares nested columns") {
    val path = freshPath()
    spark.sql(
      s"create table zrecord.`$path` (id bigint, s struct<a: int, b: array<string>>, m map<string, decimal(20, 3)>)"
    )
    spark.sql(
      s"insert into zrecord.`$path` select 1, named_struct('a', 2, 'b', array('x', null)), map('k', 1.5)"
    )
    val row = spark.sql(s"select s.b[0], s.b[1], m['k'], s.a from zrecord.`$path`").head()
    assert(row == Row("x", null, new java.math.BigDecimal("1.500"), 2))
  }
}
