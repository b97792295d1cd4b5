package io.zrecord.spark

import java.util.UUID

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.errors.SchemaMismatchException
import io.zrecord.schema.{Compression, ElementType, FieldSpec, NestedType, RecordSchema, Shape}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.options.WriteConf
import io.zrecord.spark.path.{DatasetVersion, SparkStorages}
import io.zrecord.spark.write.{TableCommit, WriteTarget}
import io.zrecord.table.{RecordTable, TableSnapshot}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Appends of narrower types: every way to append, every type that fits without a change of a
  * value, scalars, tensors and nested values.
  */
class WideningSuite extends SparkSuite {
  private val ways: Seq[(String, (DataFrame, String) => Unit)] = Seq(
    ("save", (data, path) => write(data, path, "append")),
    ("save with mergeSchema", (data, path) => write(data, path, "append", "mergeSchema" -> "true")),
    ("writeTo", (data, path) => data.writeTo(s"zrecord.`$path`").append()),
    ("insertInto", (data, path) => data.write.insertInto(s"zrecord.`$path`")),
    (
      "insert",
      (data, path) => {
        data.createOrReplaceTempView("narrow")
        spark.sql(s"insert into zrecord.`$path` select * from narrow")
      }
    )
  )

  /** A narrow type, a wider type, and values of the narrow type at its ends. */
  private val types: Seq[(String, String, Seq[String])] = Seq(
    ("tinyint", "smallint", Seq("-128", "127")),
    ("tinyint", "int", Seq("-128", "127")),
    ("tinyint", "bigint", Seq("-128", "127")),
    ("smallint", "int", Seq("-32768", "32767")),
    ("smallint", "bigint", Seq("-32768", "32767")),
    ("int", "bigint", Seq("-2147483648", "2147483647")),
    ("float", "double", Seq("1.1", "-0.0", "float('nan')", "float('-inf')")),
    ("date", "timestamp_ntz", Seq("date'0001-01-01'", "date'1969-12-31'", "date'9999-12-31'")),
    ("decimal(5,2)", "decimal(9,2)", Seq("999.99", "-999.99")),
    ("decimal(9,2)", "decimal(18,2)", Seq("9999999.99", "-0.01")),
    ("decimal(9,2)", "decimal(38,2)", Seq("9999999.99", "-0.01")),
    ("decimal(20,2)", "decimal(38,2)", Seq("999999999999999999.99", "-1.00"))
  )

  private val shapes: Seq[(String, String => String, String => String)] = Seq(
    ("single", t => t, v => v),
    ("tensor", t => s"array<$t>", v => s"array($v, $v)"),
    ("member", t => s"struct<x: $t>", v => s"named_struct('x', $v)"),
    ("mapped", t => s"map<string, array<$t>>", v => s"map('k', array($v, null))")
  )

  /** Returns rows with a column for each shape, and a row of nulls. */
  private def rows(values: Seq[String], narrow: String, declared: String): DataFrame = {
    def columns(value: String) = shapes
      .map { case (name, typeOf, valueOf) =>
        s"cast(${valueOf(s"cast($value as $narrow)")} as ${typeOf(declared)}) $name"
      }
      .mkString("select ", ", ", "")
    def nulls = shapes
      .map { case (name, typeOf, _) => s"cast(null as ${typeOf(declared)}) $name" }
      .mkString("select ", ", ", "")
    spark.sql((values.map(columns) :+ nulls).mkString(" union all "))
  }

  private def json(data: DataFrame): Seq[String] =
    data.selectExpr("to_json(struct(*)) j").collect().map(_.getString(0)).sorted.toSeq

  private def check(
      narrow: String,
      wide: String,
      values: Seq[String],
      ways: Seq[(String, (DataFrame, String) => Unit)]
  ): Unit = {
    val expected = json(rows(values, narrow, wide))
    for ((way, append) <- ways) {
      val path = freshPath()
      write(rows(values, narrow, wide).limit(0), path, "append")
      append(rows(values, narrow, narrow), path)
      assert(json(read(path)) == expected, way)
    }
  }

  for ((narrow, wide, values) <- types)
    test(s"$narrow becomes $wide, alone, in arrays, structs and maps") {
      check(narrow, wide, values, ways.take(1))
    }

  test("every way to append takes a narrower type") {
    for ((narrow, wide, values) <- types.filter(t => Set("int", "float")(t._1)))
      check(narrow, wide, values, ways)
  }

  test("what could change a value is refused, and nothing is written") {
    for (
      (narrow, wide) <- Seq(
        ("bigint", "int"),
        ("double", "float"),
        ("int", "double"),
        ("int", "string"),
        ("string", "binary"),
        ("timestamp_ntz", "date"),
        ("decimal(9,3)", "decimal(18,2)"),
        ("array<bigint>", "array<int>"),
        ("struct<x: bigint>", "struct<x: int>"),
        ("struct<y: int>", "struct<x: bigint>")
      )
    ) {
      val path = freshPath()
      write(spark.sql(s"select cast(null as $wide) v"), path, "append")
      val message = failure(write(spark.sql(s"select cast(null as $narrow) v"), path, "append"))
      assert(message.contains("cast it"), s"$narrow $wide")
      assert(read(path).count() == 1)
    }
  }

  private val scalar = Shape.scalar()
  private val targets: Seq[(ElementType, Shape)] = {
    import ElementType._
    val fixed = Seq(BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64) ++
      Seq(DATE, TIMESTAMP, TIMESTAMP_NTZ)
    val wide = Seq(BYTES, UTF8, decimal(9, 2), decimal(18, 2), decimal(38, 2), decimal(9, 3)) :+
      nested(NestedType.listOf(NestedType.of(I64)))
    fixed.flatMap(t => Seq(scalar, Shape.of(-1), Shape.of(2)).map(t -> _)) ++ wide.map(_ -> scalar)
  }

  /** An expression of each type of columns, and options of the write. */
  private val sources: Seq[(String, Map[String, String])] = {
    val single = Seq("true", "1Y", "1S", "1", "1L", "1.5F", "1.5D", "1.25BD") ++
      Seq("cast(1.5 as decimal(9,2))", "date'2000-01-01'", "timestamp'2000-01-01 00:00:00Z'") ++
      Seq("timestamp_ntz'2000-01-01 00:00:00'", "'ab'", "x'0102'", "named_struct('x', 1)")
    (single ++ single.map(value => s"array($value, $value)")).flatMap(value =>
      Seq(value -> Map.empty[String, String], value -> Map("shape" -> "2"))
    )
  }

  test("every column is refused by every field when the write is planned, or is written") {
    val location = freshPath()
    val storage = SparkStorages.storageFor(location)
    def fields(types: Seq[(ElementType, Shape)]) = new RecordSchema(
      types.zipWithIndex.map { case ((kind, shape), i) =>
        new FieldSpec(i + 1, s"v$i", kind, shape, Compression.RAW)
      }.asJava
    )
    def create(path: String, types: Seq[(ElementType, Shape)]): Unit = {
      val writer = RecordDatasetWriter
        .create(SparkStorages.storageFor(path), fields(types), WriteOptions.defaults())
      try writer.commit()
      finally writer.close()
    }
    create(location, targets)
    // A frame of a tensor of bytes says so in the metadata of its binary column.
    val bytes = freshPath()
    write(spark.sql("select x'0102' v"), bytes, "append", "shape.v" -> "2")
    val columns = sources.map { case (value, options) =>
      (spark.sql(s"select $value v").schema.head, options, value)
    } ++ Seq((read(bytes).schema.head, Map.empty[String, String], "x'0102'"))
    val base = RecordTable.at(storage).latest()
    val accepted = for {
      (column, options, value) <- columns
      ((kind, shape), i) <- targets.zipWithIndex
      if isPlanned(base, i, column, options)
    } yield (column, options, value, kind, shape)
    assert(accepted.exists(_._4 == ElementType.I64) && accepted.size < columns.size * 5)
    val path = freshPath()
    create(path, accepted.map { case (_, _, _, kind, shape) => (kind, shape) })
    val data = spark.sql(
      accepted.zipWithIndex
        .map { case (a, i) => s"${a._3} v$i" }
        .mkString("select ", ", ", "")
    )
    val marked = accepted.zipWithIndex.foldLeft(data) { case (frame, ((column, _, _, _, _), i)) =>
      frame.withMetadata(s"v$i", column.metadata)
    }
    val shapes = accepted.zipWithIndex.collect {
      case ((_, options, _, _, _), i) if options.nonEmpty => s"shape.v$i" -> options("shape")
    }
    write(marked, path, "append", shapes: _*)
    assert(read(path).collect().head.toSeq.forall(_ != null))
  }

  /** Tells whether a write of one column into one field is planned. */
  private def isPlanned(
      base: TableSnapshot,
      target: Int,
      column: StructField,
      options: Map[String, String]
  ): Boolean = {
    val field = base.schema().fields().get(target)
    val given = options.map { case (key, value) => s"$key.${field.name()}" -> value }
    try {
      new TableCommit(
        UUID.randomUUID(),
        base.storage().location(),
        WriteTarget.appending(RecordTable.at(base.storage()), DatasetVersion.of(base)),
        new StructType(Array(column.copy(name = field.name()))),
        new WriteConf(
          new CaseInsensitiveStringMap((given + ("mergeSchema" -> "true")).asJava)
        )
      )
      true
    } catch { case _: SchemaMismatchException => false }
  }

  test("null elements are refused in a tensor, and stored in a list, with a remedy that works") {
    val nulls = spark.sql("select array(1, null, 3) v")
    val path = freshPath()
    val message = failure(write(nulls, path, "append"))
    assert(message.contains("shape.v=list"), message)
    write(nulls, path, "append", "shape.v" -> "list")
    write(spark.sql("select array(4) v"), path, "append")
    for ((way, append) <- ways) append(nulls, path)
    assert(
      rows(read(path)).map(_.getSeq[Any](0)) ==
        Seq(Seq(1, null, 3), Seq(4)) ++ ways.map(_ => Seq(1, null, 3))
    )
    val other = freshPath()
    assert(
      failure(write(spark.range(1).toDF("id"), other, "append", "shape.id" -> "list"))
        .contains("for arrays")
    )
  }
}
