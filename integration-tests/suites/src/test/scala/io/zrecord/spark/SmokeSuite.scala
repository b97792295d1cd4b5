package io.zrecord.spark

/** The main job on small data, on every supported Spark, Scala and Java. */
class SmokeSuite extends SparkSuite {
  test("the connector is the shaded jar") {
    val source = classOf[ZRecordSource].getProtectionDomain.getCodeSource.getLocation.getPath
    assert(source.endsWith(".jar"))
  }

  test("written, read, appended, queried in SQL and read as of an older version") {
    val path = freshPath()
    val data = spark
      .range(0, 10000, 1, 4)
      .selectExpr("id", "cast(id as string) name", "array(cast(id as float), 0.5f) vector")
    data.write.format("zrecord").save(path)
    assert(rows(read(path)) == data.selectExpr("*", "id as _index").collect().toSeq)

    write(data, path, "append")
    assert(read(path).count() == 20000)
    assert(
      spark
        .sql(s"select sum(id) from zrecord.`$path` where _index >= 10000")
        .first()
        .getLong(0) == 49995000L
    )
    assert(read(path, "versionAsOf" -> "0").count() == 10000)
    assert(
      read(path)
        .where("_index in (3, 19999)")
        .select("name")
        .collect()
        .map(_.getString(0))
        .toSet == Set("3", "9999")
    )
  }

  test("updated rows are not offered: the table says what it can do") {
    val path = freshPath()
    write(spark.range(10).toDF(), path, "append")
    assert(failure(spark.sql(s"update zrecord.`$path` set id = 1")).nonEmpty)
    assert(read(path).selectExpr("sum(id)").first().getLong(0) == 45)
  }
}
