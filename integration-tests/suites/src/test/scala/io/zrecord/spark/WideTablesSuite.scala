package io.zrecord.spark

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.util.{Collections, Optional, OptionalLong, UUID}

import io.zrecord.schema.{Compression, ElementType, FieldSpec, RecordSchema, Shape}
import io.zrecord.spark.path.SparkStorages
import io.zrecord.table.{RecordTable, TableChange}
import io.zrecord.testing.Budget
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec

/** Many columns and large attributes make neither tasks nor their partitions large. Code for so
  * many columns would take longer to compile than all else.
  */
class WideTablesSuite extends SparkSuite with Interpreted {
  // Spark itself takes the square of the number of columns.
  private val columnCount = math.min(10000, Budget.of(10000))
  private val attribute = "a" * (1 << 19)

  /** Writes a shard of four records, with a large attribute on the first four columns. */
  private lazy val path: String = {
    val target = freshPath()
    val storage = SparkStorages.storageFor(target)
    val fields = (1 to columnCount).map { id =>
      val attributes =
        if (id <= 4) Collections.singletonMap("note", attribute)
        else Collections.emptyMap[String, String]()
      new FieldSpec(
        id,
        s"column_number_$id",
        ElementType.I64,
        Shape.scalar(),
        Compression.RAW,
        attributes
      )
    }
    val narrow = spark
      .range(0, 4, 1, 1)
      .select((1 to columnCount).map { id =>
        org.apache.spark.sql.functions.expr(s"id * $id").as(s"column_number_$id")
      }: _*)
    val table = RecordTable.at(storage)
    table.commit(
      TableChange
        .of(TableChange.Kind.CREATE, new RecordSchema(java.util.Arrays.asList(fields: _*)))
        .build()
    )
    write(narrow, target, "append")
    target
  }

  private def bytes(value: Any): Int = {
    val buffer = new ByteArrayOutputStream()
    val out = new ObjectOutputStream(buffer)
    out.writeObject(value)
    out.close()
    buffer.size()
  }

  private def scan(query: DataFrame): BatchScanExec = ScanPlans.only(query)

  test("partitions of all columns are small") {
    val query = read(path)
    val partitions = scan(query).inputPartitions
    assert(partitions.nonEmpty)
    for (partition <- partitions) assert(bytes(partition) < 4096)
    assert(
      query.selectExpr(s"sum(column_number_$columnCount)").head().getLong(0) == 6L * columnCount
    )
  }

  test("readers carry the columns once, and no attributes") {
    val factory = scan(read(path)).readerFactory
    assert(bytes(factory) < columnCount * 200 + 4096)
    assert(bytes(scan(read(path).select("column_number_1")).readerFactory) < 4096)
  }

  test("partitions of metadata tables are small, but those of the sizes of fields") {
    for (view <- Seq("shards", "chunks", "fields", "files", "versions")) {
      // The bytes of values are the sizes of all fields, which only those carry who ask for them.
      val query = read(path, "view" -> view).drop("value_bytes")
      assert(query.count() > 0)
      // The rows of fields travel themselves, each with one task, and a task has at most 1,000.
      val most = if (view == "fields") math.min(1000, columnCount) * 256 + 4096 else 4096
      for (partition <- scan(query).inputPartitions) assert(bytes(partition) < most, view)
      assert(bytes(scan(query).readerFactory) < columnCount * 200 + 4096, view)
    }
    for (partition <- scan(read(path, "view" -> "shards")).inputPartitions)
      assert(bytes(partition) < columnCount * 32 + 4096)
  }

  test("partitions of samplers are small") {
    val query = read(path, "sampler" -> "shuffle")
    for (partition <- scan(query).inputPartitions) assert(bytes(partition) < 4096)
    assert(query.selectExpr("sum(column_number_2)").head().getLong(0) == 12)
  }

  test("partitions are enough for all cores, and as large as is worth a task") {
    val target = freshPath()
    write(
      spark.range(0, 64, 1, 1).selectExpr("id", "repeat('x', 512 * 1024) text"),
      target,
      "append"
    )
    val cores = spark.sparkContext.defaultParallelism
    assert(read(target).rdd.getNumPartitions >= 2 * cores)
    assert(read(target).select("id").rdd.getNumPartitions == 1)
  }
}
