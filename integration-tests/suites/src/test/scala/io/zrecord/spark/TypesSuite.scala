package io.zrecord.spark

import java.sql.{Date, Timestamp}

import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types._

class TypesSuite extends SparkSuite {
  private def random: Random = chance

  private def frame(values: Seq[Any], dataType: DataType): DataFrame = {
    val schema = StructType(Seq(StructField("n", IntegerType), StructField("v", dataType)))
    val all = values.zipWithIndex.map { case (v, i) => Row(i, v) }
    spark.createDataFrame(spark.sparkContext.parallelize(all, 3), schema)
  }

  /** Spark's rows have one NaN only, whatever is stored. The engine's own tests show that payloads
    * are kept.
    */
  private def bits(value: Any): Any = value match {
    case f: Float => ("f", java.lang.Float.floatToIntBits(f))
    case d: Double => ("d", java.lang.Double.doubleToLongBits(d))
    case b: Array[Byte] => b.toSeq
    case s: scala.collection.Seq[_] => s.map(bits).toList
    case other => other
  }

  private val cases: Seq[(DataType, Seq[Any])] = Seq(
    BooleanType -> Seq(true, false),
    ByteType -> Seq(Byte.MinValue, 0.toByte, Byte.MaxValue),
    ShortType -> Seq(Short.MinValue, (-1).toShort, Short.MaxValue),
    IntegerType -> Seq(Int.MinValue, 0, Int.MaxValue),
    LongType -> Seq(Long.MinValue, 0L, Long.MaxValue),
    FloatType -> Seq(
      0f,
      -0f,
      Float.MinValue,
      Float.MaxValue,
      Float.MinPositiveValue,
      Float.NaN,
      java.lang.Float.intBitsToFloat(0x7fc00123),
      Float.NegativeInfinity
    ),
    DoubleType -> Seq(
      0d,
      -0d,
      Double.MinValue,
      Double.MaxValue,
      Double.MinPositiveValue,
      Double.NaN,
      java.lang.Double.longBitsToDouble(0x7ff8000000000123L),
      Double.PositiveInfinity
    ),
    DecimalType(9, 2) -> Seq(
      new java.math.BigDecimal("-9999999.99"),
      new java.math.BigDecimal("0.01")
    ),
    DecimalType(18, 6) -> Seq(
      new java.math.BigDecimal("-999999999999.999999"),
      new java.math.BigDecimal("1.000000")
    ),
    DecimalType(38, 10) -> Seq(
      new java.math.BigDecimal("-9999999999999999999999999999.9999999999"),
      new java.math.BigDecimal("9999999999999999999999999999.9999999999"),
      new java.math.BigDecimal("0E-10")
    ),
    StringType -> Seq("", "a", "标签 🙂", "x" * 100000),
    BinaryType -> Seq(
      Array.emptyByteArray,
      Array[Byte](0),
      Array.fill(1000)(0xff.toByte),
      random.nextBytes(new Array[Byte](70000), 70000)
    ),
    DateType -> Seq(
      Date.valueOf("0001-01-01"),
      Date.valueOf("1970-01-01"),
      Date.valueOf("9999-12-31")
    ),
    TimestampType -> Seq(
      Timestamp.valueOf("1970-01-01 00:00:00"),
      Timestamp.valueOf("2262-04-11 23:47:16.854775")
    ),
    TimestampNTZType -> Seq(
      java.time.LocalDateTime.parse("1970-01-01T00:00:00"),
      java.time.LocalDateTime.parse("2262-04-11T23:47:16.854775")
    ),
    ArrayType(BooleanType, false) -> Seq(Seq(true, false), Seq()),
    ArrayType(ByteType, false) -> Seq(Seq[Byte](1, -1), Seq()),
    ArrayType(ShortType, false) -> Seq(Seq[Short](1, -1), Seq()),
    ArrayType(IntegerType, false) -> Seq(Seq(1, Int.MinValue, 3), Seq(), (0 until 5000)),
    ArrayType(LongType, false) -> Seq(Seq(1L, Long.MinValue), Seq()),
    ArrayType(FloatType, true) -> Seq(Seq(1f, -0f, Float.NaN), Seq()),
    ArrayType(DoubleType, false) -> Seq(Seq(1d, -0d), Seq()),
    ArrayType(DateType, false) -> Seq(Seq(Date.valueOf("2020-02-29")), Seq()),
    ArrayType(TimestampType, false) -> Seq(Seq(Timestamp.valueOf("2020-02-29 01:02:03.000004")))
  )

  private implicit class Filled(r: Random) {
    def nextBytes(bytes: Array[Byte], n: Int): Array[Byte] = { r.nextBytes(bytes); bytes }
  }

  /** Each type in some of the codecs; at scale 1, in all. */
  private def codecs: Seq[String] =
    random.shuffle(Seq("raw", "flate", "zstd", "lz4")).take(Budget.of(4))

  for ((dataType, values) <- cases; compression <- codecs) {
    test(s"${dataType.catalogString} comes back equal, stored as $compression") {
      val withNulls = Seq(null) ++ values.flatMap(v => Seq(v, null)) ++ values
      val path = freshPath()
      val data = frame(withNulls, dataType)
      write(data, path, "append", "compression" -> compression)
      val back = read(path)
      assert(back.schema("v").dataType == (dataType match {
        case ArrayType(e, _) => ArrayType(e, false)
        case other => other
      }))
      val found = back.orderBy("n").collect().map(row => bits(row.get(1))).toSeq
      assert(found == withNulls.map(bits))
      // Again by index: a gather instead of a scan.
      val last = withNulls.size - 1
      val some =
        back.where(col("_index").isin(0, 1, last)).select("v", "_index").orderBy("_index").collect()
      assert(
        some.map(row => bits(row.get(0))).toSeq == Seq(0, 1, last).map(i => bits(withNulls(i)))
      )
    }
  }

  test("columns of nulls only") {
    val path = freshPath()
    write(
      spark.range(10).selectExpr("cast(null as int) i", "cast(null as string) s"),
      path,
      "append"
    )
    assert(read(path).where("i is null and s is null").count() == 10)
  }

  test("a value of more than 64 MiB") {
    val path = freshPath()
    val data =
      spark.range(2).selectExpr("id", "repeat(cast(id as string), 70 * 1024 * 1024) as text")
    write(data, path, "append")
    assert(
      read(path)
        .selectExpr("id", "octet_length(text)", "xxhash64(text)")
        .orderBy("id")
        .collect()
        .toSeq ==
        data.selectExpr("id", "octet_length(text)", "xxhash64(text)").orderBy("id").collect().toSeq
    )
  }

  test("a fixed shape is kept in the metadata of the column and checked") {
    val path = freshPath()
    val data = spark
      .range(10)
      .selectExpr(
        "array(cast(id as float), 1f, 2f, 3f, 4f, 5f) as m",
        "cast('abcdef' as binary) as image"
      )
    write(data, path, "append", "shape.m" -> "2,3", "shape.image" -> "2,3")
    val back = read(path)
    assert(back.schema("m").metadata.getLongArray("zrecord.shape").toSeq == Seq(2L, 3L))
    assert(back.schema("image").metadata.getString("zrecord.dtype") == "u8")
    assert(
      back.collect().map(_.getSeq[Float](0).toList).toSeq ==
        (0 until 10).map(i => List(i.toFloat, 1f, 2f, 3f, 4f, 5f))
    )
    assert(
      back
        .selectExpr("cast(image as string)")
        .distinct()
        .collect()
        .map(_.getString(0))
        .toSeq == Seq("abcdef")
    )
    // The result is written with the same shapes, and a plain data frame takes the shapes over.
    val copy = freshPath()
    write(back, copy, "append")
    assert(read(copy).schema == back.schema)
    write(data, path, "append")
    assert(read(path).count() == 20)
    val wrong = spark.range(1).selectExpr("array(1f) as m", "cast('abcdef' as binary) as image")
    assert(failure(write(wrong, path, "append")).contains("'m'"))
    assert(read(path).count() == 20)
  }

  test("types that cannot be stored are refused at once, with a way out") {
    val path = freshPath()
    val data = spark
      .range(1)
      .selectExpr(
        "id",
        "interval '1' day as i",
        "named_struct('a', interval '1' day) as s",
        "map('a', interval '1' day) as m",
        "array(interval '1' day) as t"
      )
    val message = failure(write(data, path, "append"))
    for (name <- Seq("i", "s", "m", "t")) {
      assert(message.contains(s"'$name'") && message.contains(s"cast(`$name` as "))
    }
    assert(filesOf(path).names.isEmpty)
  }

  test("null elements of arrays are refused") {
    val path = freshPath()
    val data =
      spark.range(0, 3, 1, 1).selectExpr("array(1, case when id = 2 then null else 3 end) as a")
    assert(
      failure(write(data, path, "append")).contains("element 1 of the 2 in column 'a' is null")
    )
    assert(eventually(filesOf(path).names.isEmpty))
  }

  test("any Unicode is a name of a column") {
    val path = freshPath()
    val names = Seq("标签", "../../x", "a b.c", "CON", "emoji 🙂", "field-7", "q`uote")
    val data = spark
      .range(5)
      .toDF("id")
      .select(names.zipWithIndex.map { case (n, i) => (col("id") + i).as(n) }: _*)
    write(data, path, "append")
    val back = read(path)
    assert(back.columns.toSeq == names)
    assert(back.collect().toSeq.map(_.toSeq) == data.collect().toSeq.map(_.toSeq))
  }

  test("names that differ by case obey spark.sql.caseSensitive") {
    val path = freshPath()
    spark.conf.set("spark.sql.caseSensitive", "true")
    try {
      write(spark.range(3).selectExpr("id as a", "id * 2 as A"), path, "append")
      assert(read(path).selectExpr("sum(a)", "sum(A)").first() == Row(3L, 6L))
    } finally spark.conf.set("spark.sql.caseSensitive", "false")
    val insensitive = freshPath()
    write(spark.range(3).toDF("Id"), insensitive, "append")
    write(spark.range(3).toDF("ID"), insensitive, "append")
    assert(read(insensitive).selectExpr("sum(id)").first() == Row(6L))
  }
}
