package io.zrecord.spark

/** Overwrites where `spark.sql.sources.partitionOverwriteMode` is `dynamic`, as clusters set it. A
  * dataset has no partitions, so each replaces all records, as it does with Parquet.
  */
class DynamicOverwriteSuite extends SparkSuite {
  private val key = "spark.sql.sources.partitionOverwriteMode"

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog"
  )

  private def numbers(count: Long) = spark.range(count).toDF("id")

  private val ways: Seq[(String, (String, Long) => Unit)] = Seq(
    ("insert overwrite", (t, n) => spark.sql(s"insert overwrite $t select id from range($n)")),
    (
      "insert overwrite with columns",
      (t, n) => spark.sql(s"insert overwrite $t (id) select id from range($n)")
    ),
    ("insertInto", (t, n) => numbers(n).write.mode("overwrite").insertInto(t)),
    ("overwritePartitions", (t, n) => numbers(n).writeTo(t).overwritePartitions())
  )

  private def tables: Seq[(String, String)] = {
    val path = freshPath()
    write(numbers(3), path, "append")
    val table = freshTable()
    spark.sql(s"create table $table using zrecord as select id from range(3)")
    Seq("a path" -> s"zrecord.`$path`", "a table" -> table)
  }

  for (mode <- Seq("dynamic", "static"); (way, overwrite) <- ways)
    test(s"$way replaces all records where the mode is $mode") {
      spark.conf.set(key, mode)
      try
        for ((what, table) <- tables; count <- Seq(5, 0, 2)) {
          overwrite(table, count)
          assert(spark.table(table).collect().length == count, what)
          assert(spark.table(table).columns.toSeq == Seq("id"), what)
        }
      finally spark.conf.unset(key)
    }

  test("save(overwrite) replaces columns and records whatever the mode") {
    for (mode <- Seq("dynamic", "static")) {
      spark.conf.set(key, mode)
      try {
        val path = freshPath()
        write(numbers(3), path, "append")
        write(numbers(2).selectExpr("cast(id as string) other"), path, "overwrite")
        assert(read(path).columns.toSeq == Seq("other"))
        assert(read(path).count() == 2)
      } finally spark.conf.unset(key)
    }
  }

  test("a dynamic overwrite with what an older version had is refused") {
    spark.conf.set(key, "dynamic")
    try
      for ((way, overwrite) <- ways.take(1) ++ ways.takeRight(1)) {
        val path = freshPath()
        write(numbers(3), path, "append")
        val old = read(path, "versionAsOf" -> "0").dropDuplicates()
        old.createOrReplaceTempView("old")
        write(numbers(2), path, "append")
        val message = failure(
          if (way == "overwritePartitions") old.writeTo(s"zrecord.`$path`").overwritePartitions()
          else spark.sql(s"insert overwrite zrecord.`$path` select * from old")
        )
        assert(message.contains("reads version 0"), way)
        assert(read(path).count() == 5, way)
      }
    finally spark.conf.unset(key)
  }
}
