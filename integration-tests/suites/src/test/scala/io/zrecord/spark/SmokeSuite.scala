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

  test("records are deleted, updated and merged") {
    val path = freshPath()
    write(spark.range(10).selectExpr("id", "id label"), path, "append")
    spark.sql(s"delete from zrecord.`$path` where id % 5 = 4")
    spark.sql(s"update zrecord.`$path` set label = 7 where id < 2")
    spark.sql(s"""merge into zrecord.`$path` t using (select id from range(8, 11)) c on t.id = c.id
         | when matched then update set label = 0
         | when not matched then insert (id, label) values (c.id, 1)""".stripMargin)
    val found = read(path).orderBy("id").collect().map(row => (row.getLong(0), row.getLong(1)))
    val kept = Seq(0L -> 7L, 1L -> 7L, 2L -> 2L, 3L -> 3L, 5L -> 5L, 6L -> 6L, 7L -> 7L, 8L -> 0L)
    assert(found.toSeq == kept ++ Seq(9L -> 1L, 10L -> 1L))
  }
}
