package io.zrecord.spark

import java.nio.file.{Files, Paths}

/** What messages advise works. */
class RemediesSuite extends SparkSuite {
  private val isNewer = spark.version.takeWhile(_ != '.').toInt >= 4

  private val types: Seq[(Boolean, String)] = Seq(
    (false, "interval '1' day"),
    (false, "interval '1' month"),
    (false, "cast(null as void)"),
    (false, "array(interval '1' day)"),
    (false, "named_struct('a b', 1, 'i', interval '1' day)"),
    (false, "map('k', interval '1' day)"),
    (true, "'x' collate utf8_lcase"),
    (true, "array('x' collate utf8_lcase)"),
    (true, "parse_json('{\"a\": [1]}')")
  )

  for ((needsNewer, expression) <- types)
    test(s"the conversion that is advised for $expression works") {
      assume(isNewer || !needsNewer)
      val data = spark.sql(s"select 7 id, $expression `a col`")
      val path = freshPath()
      val message = failure(write(data, path, "append"))
      val advised = "for example with (.*?), or leave it out".r.findFirstMatchIn(message)
      assert(advised.isDefined, message)
      write(data.selectExpr("id", advised.get.group(1) + " as converted"), path, "append")
      assert(read(path).count() == 1)
      assert(filesOf(path).names.nonEmpty)
    }

  test("the field of a sampler is found without regard to case, as a column is") {
    val path = freshPath()
    write(
      spark.range(20).selectExpr("id", "1.0D Weight", "cast(id % 4 as int) Label"),
      path,
      "append"
    )
    def sampled(sampler: String, key: String, name: String) =
      read(
        path,
        Seq("sampler" -> sampler, "batchSize" -> "4", "numSamples" -> "8", key -> name)
          .filterNot { case (k, _) => k == "batchSize" && sampler == "weighted" }: _*
      ).selectExpr("id").collect().toSeq
    for ((sampler, key, name) <- Seq(("weighted", "weightsField", "Weight"))) {
      val expected = sampled(sampler, key, name)
      assert(expected.size == 8)
      for (spelled <- Seq(name.toLowerCase, name.toUpperCase))
        assert(sampled(sampler, key, spelled) == expected, spelled)
      spark.conf.set("spark.sql.caseSensitive", "true")
      try assert(failure(sampled(sampler, key, name.toUpperCase)).contains(name.toUpperCase))
      finally spark.conf.unset("spark.sql.caseSensitive")
    }
  }

  testLocally("a pattern beside a name with a colon says what is in the way") {
    val root = Paths.get(freshPath())
    write(spark.range(3).toDF("id"), root.resolve("a").toString, "append")
    Files.createDirectory(root.resolve("b:c"))
    val message = failure(read(root.toString + "/*").count())
    assert(message.contains("b:c") && message.contains("one by one"), message)
    assert(read(root.resolve("a").toString).count() == 3)
  }

  test("a write with a transaction that runs twice") {
    val path = freshPath()
    def save(mode: String) = write(
      spark.range(3).toDF("id"),
      path,
      mode,
      "txnAppId" -> "nightly",
      "txnVersion" -> "1"
    )
    save("errorifexists")
    assert(failure(save("errorifexists")).contains("already exists"))
    for (mode <- Seq("append", "overwrite", "ignore")) {
      save(mode)
      assert(read(path).count() == 3, mode)
    }
  }
}
