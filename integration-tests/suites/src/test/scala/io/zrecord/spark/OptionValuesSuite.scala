package io.zrecord.spark

import org.apache.spark.sql.DataFrame

/** Every option is obeyed or refused, on every way to read and to write. */
class OptionValuesSuite extends SparkSuite {
  private lazy val path: String = {
    val written = freshPath()
    write(spark.range(10).toDF("id"), written, "append")
    written
  }

  /** Values that are refused, and a word of the message. */
  private val ofReads: Seq[(String, String, String)] = Seq(
    ("verify", "bogus", "first"),
    ("numPartitions", "1000001", "1 to 1000000"),
    ("numPartitions", "0", "1 to 1000000"),
    ("numPartitions", "-1", "numPartitions"),
    ("batchRows", "0", "1 to 1048576"),
    ("batchRows", "1048577", "1 to 1048576"),
    ("batchRows", "many", "batchRows"),
    ("batchBytes", "0", "batchBytes"),
    ("batchBytes", "2g", "batchBytes"),
    ("statistics", "maybe", "true or false"),
    ("globPaths", "maybe", "true or false"),
    ("indices", "1,x", "no index"),
    ("indices", "10", "no record 10"),
    ("sampler", "bogus", "bogus"),
    ("epoch", "1", "sampler"),
    ("unknownOptions", "maybe", "refuse or ignore"),
    ("bogus", "1", "unknown option")
  )

  private val reads: Seq[(String, DataFrame => Any)] = Seq(
    ("collect", _.collect()),
    ("count()", _.count()),
    ("count(distinct 1)", _.selectExpr("count(distinct 1)").collect()),
    ("a count of places", _.where("_index < 3").count()),
    ("isEmpty", _.isEmpty),
    ("no columns", _.selectExpr("1").collect()),
    ("a condition", _.where("id > 100").collect())
  )

  for ((option, value, hint) <- ofReads)
    test(s"a read with $option=$value is refused") {
      for ((how, action) <- reads) {
        assert(failure(action(read(path, option -> value))).contains(hint), s"load, $how")
        assert(
          failure(action(spark.read.option(option, value).table(s"zrecord.`$path`")))
            .contains(hint),
          s"table, $how"
        )
      }
      if (!Set("epoch", "bogus").contains(option)) {
        spark.conf.set(s"spark.datasource.zrecord.$option", value)
        try
          for ((how, action) <- reads) {
            assert(failure(action(read(path))).contains(hint), s"default, $how")
            assert(
              failure(action(spark.sql(s"select * from zrecord.`$path`"))).contains(hint),
              s"default in SQL, $how"
            )
          }
        finally spark.conf.unset(s"spark.datasource.zrecord.$option")
      }
    }

  private val ofWrites: Seq[(String, String, String)] = Seq(
    ("chunkBytes", "1", "chunkBytes"),
    ("stripeBytes", "1", "stripeBytes"),
    ("alignBytes", "100", "alignBytes"),
    ("blockBytes", "1", "blockBytes"),
    ("transform", "bogus", "transform"),
    ("checksum", "md5", "crc32c"),
    ("durability", "maybe", "commit"),
    ("compression", "zip", "zstd"),
    ("compression.id", "zip", "zstd"),
    ("shape.id", "x", "shape.id"),
    ("mergeSchema", "maybe", "true or false"),
    ("numPartitions", "3", "unknown option")
  )

  private val writes: Seq[(String, (String, String, String) => Any)] = Seq(
    ("save", (to, key, value) => write(spark.range(3).toDF("id"), to, "append", key -> value)),
    (
      "save of nothing",
      (to, key, value) => write(spark.range(0).toDF("id"), to, "append", key -> value)
    ),
    (
      "overwrite",
      (to, key, value) => write(spark.range(3).toDF("id"), to, "overwrite", key -> value)
    ),
    (
      "errorifexists",
      (to, key, value) =>
        write(spark.range(3).toDF("id"), freshPath(), "errorifexists", key -> value)
    ),
    (
      "writeTo append",
      (to, key, value) =>
        spark.range(3).toDF("id").writeTo(s"zrecord.`$to`").option(key, value).append()
    ),
    (
      "writeTo create",
      (_, key, value) =>
        spark.range(3).toDF("id").writeTo(s"zrecord.`${freshPath()}`").option(key, value).create()
    ),
    (
      "a table without a query",
      (_, key, value) =>
        spark.sql(
          s"create table zrecord.`${freshPath()}` (id bigint) using zrecord options ('$key'='$value')"
        )
    ),
    (
      "a table with a query",
      (_, key, value) =>
        spark.sql(
          s"create table zrecord.`${freshPath()}` using zrecord options ('$key'='$value')" +
            " as select id from range(3)"
        )
    )
  )

  for ((option, value, hint) <- ofWrites)
    test(s"a write with $option=$value is refused") {
      for ((how, action) <- writes)
        assert(failure(action(path, option, value)).contains(hint), how)
      assert(read(path).count() == 10)
    }

  test("options of a catalog are refused, and their values are not shown") {
    for (
      (catalog, option, remedy) <- Seq(
        ("io.zrecord.spark.ZRecordCatalog", "verify", "spark.datasource.zrecord"),
        ("io.zrecord.spark.ZRecordCatalog", "fs.s3a.secret.key", "spark.hadoop.fs.s3a.secret.key"),
        ("io.zrecord.spark.catalog.PathCatalog", "warehouse", "spark.datasource.zrecord"),
        ("io.zrecord.spark.catalog.PathCatalog", "verify", "spark.datasource.zrecord")
      )
    ) {
      val session = spark.newSession()
      session.conf.set("spark.sql.catalog.lake", catalog)
      session.conf.set(s"spark.sql.catalog.lake.$option", "hush")
      val message = failure(session.sql(s"select * from lake.`$path`").collect())
      assert(message.contains(option) && message.contains(remedy), message)
      assert(!message.contains("hush"))
    }
    val session = spark.newSession()
    session.conf
      .set("spark.sql.catalog.spark_catalog", "io.zrecord.spark.ZRecordSessionCatalog")
    session.conf.set("spark.sql.catalog.spark_catalog.verify", "hush")
    val message = failure(session.sql("create table held_options (id int) using zrecord"))
    assert(message.contains("spark.sql.catalog.spark_catalog.verify"), message)
  }
}
