package io.zrecord.spark

import scala.collection.JavaConverters._

import org.apache.spark.sql.{Row, SparkSession}

/** Calls of procedures by programs, on every Spark. */
class CallSuite extends SessionTablesSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = super.configuration ++ Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private val places = Seq("a name", "a session table", "a path")

  /** Makes a table of 4 shards and returns its name and its path. */
  private def created(place: String): (String, String) = {
    val table = freshTable()
    val (name, path) = place match {
      case "a name" => (s"lake.$table", s"$warehouse/$table")
      case "a session table" => (table, managedPath(table))
      case "a path" => (s"zrecord.`$warehouse/$table`", s"$warehouse/$table")
    }
    spark.sql(s"create table $name (id bigint, label int) using zrecord")
    for (part <- 0 until 4)
      spark.sql(
        s"insert into $name select /*+ coalesce(1) */ id, cast(id % 7 as int)" +
          s" from range(${part * 50}, ${part * 50 + 50}, 1, 1)"
      )
    (if (place == "a path") path else name, path)
  }

  private def called(procedure: String, arguments: (String, Any)*): Seq[Row] =
    arguments
      .foldLeft(Call.of(spark, procedure)) { case (call, (name, value)) => call.set(name, value) }
      .run()
      .collect()
      .toSeq

  private def versions(path: String): Seq[Long] =
    tableAt(path).versions().asScala.map(_.longValue).toSeq

  for (place <- places)
    test(s"each procedure is called on $place") {
      val (table, path) = created(place)
      def on(procedure: String, arguments: (String, Any)*): Row =
        called(procedure, ("table" -> table) +: arguments: _*).head
      assert(on("changes").getAs[Long](0) == 4)
      assert(on("tag", "name" -> "raw") == Row("raw", 4L))
      val groups = on(
        "rebalance",
        "all_shards" -> true,
        "compression" -> Map("label" -> "zstd").asJava,
        "min_utilization" -> "0.5"
      )
      assert(groups.getAs[Any]("shards_after").toString == "1", groups)
      assert(tableAt(path).latest().shards().size() == 1)
      assert(on("VERIFY", "ALL_VERSIONS" -> "true").getAs[Boolean]("sound"))
      assert(on("rollback_to", "tag" -> "raw").getAs[Any]("records").toString == "200")
      on("relayout", "order_by" -> "label", "descending" -> true)
      val labels = spark.read.format("zrecord").load(path).orderBy("_index").select("label")
      assert(labels.head() == Row(6))
      val dry = on("expire", "older_than" -> "1h", "keep_versions" -> 1, "dry_run" -> true)
      assert(dry.getAs[Boolean]("dry_run") && versions(path).size == 9)
      assert(on("untag", "name" -> "raw") == Row("raw", 4L))
      assert(on("sweep", "older_than" -> "90m").schema.fieldNames.nonEmpty)
      assert(called("repair", "table" -> table).isEmpty)
    }

  test("an answer is that of CALL") {
    assume(!spark.version.startsWith("3."), "CALL is new in Spark 4.0")
    val (name, path) = created("a name")
    for (
      (procedure, arguments) <- Seq(
        ("changes", Seq("from_version" -> 1L)),
        ("expire", Seq("dry_run" -> true)),
        ("sweep", Seq()),
        ("verify", Seq("version" -> 2L))
      )
    ) {
      val text = arguments.map { case (key, value) => s", $key => $value" }.mkString
      val expected = spark.sql(s"call lake.system.$procedure('$name'$text)")
      val call = (("table" -> path) +: arguments).foldLeft(Call.of(spark, procedure)) {
        case (made, (key, value)) => made.set(key, value)
      }
      val answer = call.run()
      assert(answer.schema == expected.schema, procedure)
      assert(answer.collect().toSeq == expected.collect().toSeq, procedure)
    }
  }

  test("what is wrong with a call is said before anything is done") {
    val (table, path) = created("a path")
    def refused(words: String*)(call: => Any): Unit = {
      val message = failure(call)
      words.foreach(word => assert(message.contains(word), message))
    }
    refused("'compact'", "rebalance", "rollback_to")(called("compact"))
    refused("'older'", "older_than", "keep_versions")(called("expire", "older" -> "1h"))
    refused("'keep_versions'", "'many'", "int")(called("expire", "keep_versions" -> "many"))
    refused("'dry_run'", "'yes'")(called("sweep", "dry_run" -> "yes"))
    refused("needs the argument 'name'")(called("tag", "table" -> table))
    refused("needs the argument 'table'")(called("verify"))
    refused("given twice")(called("tag", "name" -> "a", "NAME" -> "b"))
    refused("'compression'")(called("rebalance", "table" -> table, "compression" -> "zstd"))
    refused(s"$path-not")(called("verify", "table" -> s"$path-not"))
    refused("PT1H")(called("expire", "table" -> table, "older_than" -> "1m"))
    spark.range(1).createOrReplaceTempView("a_view")
    refused("a_view")(called("verify", "table" -> "a_view"))
    refused("'name'", "NULL")(called("tag", "table" -> table, "name" -> null))
    assert(versions(path).size == 5)
  }

  test("a call is one of the session that is given, and NULL is an argument") {
    val (_, path) = created("a path")
    val other = spark.newSession()
    other.conf.set("spark.sql.catalog.there", classOf[ZRecordCatalog].getName)
    other.conf.set("spark.sql.catalog.there.warehouse", warehouse)
    val table = s"there.${path.split('/').last}"
    val answer = Call.of(other, "tag").set("table", table).set("name", "n").set("version", null)
    assert(answer.run().collect().toSeq == Seq(Row("n", 4L)))
    assert(SparkSession.active eq spark)
  }

  testLocally("spark-submit calls a procedure and prints a line of JSON for each row") {
    val (_, path) = created("a path")
    val done = SubmittedProcess.start("io.zrecord.spark.Call", "tag", s"table=$path", "name=raw")
    assert(done.exitCode() == 0, done.err)
    assert(done.out == "{\"name\":\"raw\",\"version\":4}\n", done.out)
    assert(tableAt(path).tagged("raw").version() == 4)
    val wrong = SubmittedProcess.start("io.zrecord.spark.Call", "tag", s"table=$path", "nam=raw")
    assert(wrong.exitCode() == 2 && wrong.err.contains("'nam'"), wrong.err)
  }
}
