package io.zrecord.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder, StructField}

/** What an application says of a column, such as the attributes of Spark ML, on every way to write
  * and to read a dataset. Each way that creates or replaces rows keeps what the query says, and
  * each way that adds rows or renames keeps what the dataset has.
  */
class ColumnMetadataSuite extends SparkSuite {
  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog"
  )

  private val first = said(1)
  private val second = said(2)
  private val views = Iterator.from(1).map(n => s"described_$n")

  /** Metadata in which Spark's own notes and zrecord's are mixed. */
  private def said(number: Long): Metadata =
    new MetadataBuilder()
      .putMetadata("ml_attr", new MetadataBuilder().putDoubleArray("vals", Array(0.5, 2)).build())
      .putLong("number", number)
      .putNull("nothing")
      .putString("comment", s"comment $number")
      .putString("zrecord.dtype", "f64")
      .putBoolean("spark.timeWindow", true)
      .build()

  private def frame(metadata: Metadata): DataFrame =
    spark.range(3).select(col("id").as("id", metadata), col("id").cast("string").as("s"))

  private def view(metadata: Metadata): String = {
    val name = views.next()
    frame(metadata).createOrReplaceTempView(name)
    name
  }

  /** A table: a path, and the name by which statements know the table. */
  private case class Place(path: String, name: String)

  private def atPath(): Place = {
    val path = freshPath()
    Place(path, s"zrecord.`$path`")
  }

  private def managed(): Place = {
    val name = freshTable()
    Place(s"${spark.conf.get("spark.sql.warehouse.dir")}/$name", name)
  }

  private type Way = (String, (Place, Metadata) => Unit)

  private def save(mode: String, options: (String, String)*): Way =
    (
      s"save($mode) ${options.mkString}",
      (place, metadata) => write(frame(metadata), place.path, mode, options: _*)
    )

  private val creations: Seq[(Way, () => Place)] = Seq(
    save("append") -> (() => atPath()),
    save("overwrite") -> (() => atPath()),
    save("errorifexists") -> (() => atPath()),
    (("create", (p: Place, m: Metadata) => frame(m).writeTo(p.name).create()): Way) ->
      (() => atPath()),
    (("SQL", (p: Place, m: Metadata) => sql(s"create table ${p.name} as table ${view(m)}")): Way) ->
      (() => atPath()),
    (
      (
        "create in the session",
        (p: Place, m: Metadata) => frame(m).writeTo(p.name).using("zrecord").create()
      ): Way
    ) -> (() => managed()),
    (
      (
        "SQL in the session",
        (p: Place, m: Metadata) => sql(s"create table ${p.name} using zrecord as table ${view(m)}")
      ): Way
    ) -> (() => managed()),
    (
      (
        "saveAsTable",
        (p: Place, m: Metadata) => frame(m).write.format("zrecord").saveAsTable(p.name)
      ): Way
    ) -> (() => managed())
  )

  /** Ways to replace the rows, or the whole table. */
  private val replacements: Seq[Way] = Seq(
    save("overwrite"),
    save("overwrite", "overwriteSchema" -> "true"),
    ("overwrite", (p, m) => frame(m).writeTo(p.name).overwrite(lit(true))),
    ("overwritePartitions", (p, m) => frame(m).writeTo(p.name).overwritePartitions()),
    ("INSERT OVERWRITE", (p, m) => sql(s"insert overwrite ${p.name} table ${view(m)}")),
    (
      "dynamic INSERT OVERWRITE",
      (p, m) =>
        withSetting("spark.sql.sources.partitionOverwriteMode", "dynamic") {
          sql(s"insert overwrite ${p.name} table ${view(m)}")
        }
    ),
    (
      "replace",
      (p, m) => frame(m).writeTo(p.name).using("zrecord").replace()
    ),
    (
      "SQL replace",
      (p, m) => sql(s"create or replace table ${p.name} using zrecord as table ${view(m)}")
    ),
    (
      "saveAsTable",
      (p, m) => frame(m).write.format("zrecord").mode("overwrite").saveAsTable(p.name)
    )
  )

  /** Ways to overwrite for which Spark fits the columns of the query to those of the table. */
  private val fitted: Seq[Way] = Seq(
    (
      "overwrite of columns in another order",
      (p, m) => frame(m).select("s", "id").writeTo(p.name).overwrite(lit(true))
    ),
    (
      "INSERT OVERWRITE of columns of other names",
      (p, m) => {
        val name = views.next()
        frame(m).toDF("a", "b").select(col("a").as("a", m), col("b")).createOrReplaceTempView(name)
        sql(s"insert overwrite ${p.name} table $name")
      }
    ),
    (
      "INSERT OVERWRITE beside a column of another type",
      (p, m) => {
        val name = views.next()
        frame(m).withColumn("s", col("s").cast("int")).createOrReplaceTempView(name)
        sql(s"insert overwrite ${p.name} table $name")
      }
    )
  )

  /** Ways to add rows, and changes that are none of the rows. */
  private val additions: Seq[Way] = Seq(
    save("append"),
    save("append", "mergeSchema" -> "true"),
    ("append", (p, m) => frame(m).writeTo(p.name).append()),
    ("INSERT", (p, m) => sql(s"insert into ${p.name} table ${view(m)}"))
  )

  private def sql(text: String): Unit = { spark.sql(text); () }

  private def withSetting(key: String, value: String)(body: => Unit): Unit = {
    val before = spark.conf.getOption(key)
    spark.conf.set(key, value)
    try body
    finally before.fold(spark.conf.unset(key))(spark.conf.set(key, _))
  }

  private def created(place: Place, metadata: Metadata): Unit =
    if (place.name.startsWith("zrecord.")) write(frame(metadata), place.path, "errorifexists")
    else frame(metadata).write.format("zrecord").saveAsTable(place.name)

  /** Requires that a column says what an application said, and what zrecord says. */
  private def requireOf(column: StructField, number: Option[Long], way: String): Unit = {
    val metadata = column.metadata
    assert(metadata.getString("zrecord.dtype") == "i64", way)
    number match {
      case Some(n) =>
        assert(metadata.getLong("number") == n, way)
        assert(metadata.getMetadata("ml_attr") == first.getMetadata("ml_attr"), way)
        assert(metadata.contains("nothing"), way)
      case None => assert(!metadata.contains("number") && !metadata.contains("ml_attr"), way)
    }
    assert(!metadata.contains("spark.timeWindow"), way)
  }

  private def require(place: Place, number: Option[Long], way: String): Unit = {
    requireOf(read(place.path).schema("id"), number, s"$way, by path")
    requireOf(spark.table(place.name).schema("id"), number, s"$way, by name")
    val newest = tableAt(place.path).latest().version()
    for (
      (reading, shown) <- Seq(
        "a version" -> read(place.path, "versionAsOf" -> newest.toString),
        "a version in SQL" -> spark.sql(
          s"select * from ${place.name} version as of $newest"
        ),
        "a version of a table" ->
          spark.read.option("versionAsOf", newest.toString).table(place.name)
      )
    )
      requireOf(shown.schema("id"), number, s"$way, by $reading")
  }

  for (((way, create), place) <- creations)
    test(s"what an application says of a column comes back after $way") {
      val at = place()
      create(at, first)
      require(at, Some(1), way)
      val copy = atPath()
      write(spark.table(at.name), copy.path, "errorifexists")
      require(copy, Some(1), s"$way and a copy")
    }

  for ((way, replace) <- replacements ++ fitted)
    test(s"$way replaces what is said of a column") {
      for (place <- Seq(atPath(), managed())) {
        created(place, first)
        replace(place, second)
        require(place, Some(2), way)
        replace(place, Metadata.empty)
        require(place, None, s"$way without")
        replace(place, first)
        require(place, Some(1), s"$way again")
        assert(read(place.path, "versionAsOf" -> "1").schema("id").metadata.getLong("number") == 2)
        assert(
          spark.read.option("versionAsOf", "2").table(place.name).count() == 3,
          "columns that differ in what is said of them are the same columns"
        )
      }
    }

  for ((way, add) <- additions)
    test(s"$way keeps what is said of a column") {
      for (place <- Seq(atPath(), managed())) {
        created(place, first)
        add(place, second)
        require(place, Some(1), way)
        add(place, Metadata.empty)
        require(place, Some(1), s"$way without")
      }
    }

  test("what is said of a column goes with a renamed table, and stays beside a new comment") {
    val place = managed()
    created(place, first)
    val renamed = managed()
    sql(s"alter table ${place.name} rename to ${renamed.name}")
    require(renamed, Some(1), "rename")
    sql(s"alter table ${renamed.name} alter column id comment 'another'")
    require(renamed, Some(1), "comment")
    assert(spark.table(renamed.name).schema("id").getComment().contains("another"))
    write(frame(second), renamed.path, "overwrite")
    require(renamed, Some(2), "an overwrite by path")
    assert(spark.table(renamed.name).schema("id").getComment().contains("another"))
  }

  test("an added column says what the append says of it, and the others what they said") {
    val place = atPath()
    created(place, first)
    write(
      frame(second)
        .withColumn("extra", col("id"))
        .select(
          col("id"),
          col("s"),
          col("extra").as("extra", second)
        ),
      place.path,
      "append",
      "mergeSchema" -> "true"
    )
    require(place, Some(1), "mergeSchema")
    requireOf(read(place.path).schema("extra"), Some(2), "mergeSchema")
  }

  test("a held and a cached data frame go on after an overwrite that says something else") {
    val place = atPath()
    created(place, first)
    val held = read(place.path)
    val cached = spark.table(place.name).cache()
    assert(held.count() == 3 && cached.count() == 3)
    write(frame(second), place.path, "overwrite")
    assert(held.count() == 3 && held.collect().length == 3)
    assert(cached.count() == 3 && cached.collect().length == 3)
    cached.unpersist()
  }

  test("too much is refused where it would be kept, and nowhere else") {
    def large(characters: Int) =
      new MetadataBuilder().putString("text", "x" * characters).build()
    val place = atPath()
    def refused(words: String, action: => Unit): Unit = {
      val message = failure(action)
      assert(message.contains(words) && message.contains("without"), message)
    }
    refused("column 'id' has metadata of 524", save("errorifexists")._2(place, large(1 << 19)))
    save("errorifexists")._2(place, large((1 << 19) - 20))
    save("append")._2(place, large(1 << 20))
    sql(s"insert into ${place.name} table ${view(large(1 << 20))}")
    refused("metadata of", save("overwrite")._2(place, large(1 << 20)))
    assert(read(place.path).count() == 9)
    val wide = spark
      .range(1)
      .select((0 to 8).map(n => col("id").as(s"c$n", large((1 << 19) - 20))): _*)
    refused("a table keeps at most 4194304", write(wide, freshPath(), "errorifexists"))
  }

  test("notes of Spark about a column are kept by no save") {
    val notes = Seq(
      "GENERATION_EXPRESSION",
      "CURRENT_DEFAULT",
      "EXISTS_DEFAULT",
      "__CHAR_VARCHAR_TYPE_STRING",
      "identity.start"
    )
    val noted = notes.foldLeft(new MetadataBuilder().withMetadata(first)) {
      case (builder, "identity.start") => builder.putLong("identity.start", 1)
      case (builder, "__CHAR_VARCHAR_TYPE_STRING") =>
        builder.putString("__CHAR_VARCHAR_TYPE_STRING", "char(3)")
      case (builder, note) => builder.putString(note, "1")
    }
    for (mode <- Seq("append", "overwrite")) {
      val place = atPath()
      write(frame(first), place.path, mode)
      write(frame(noted.build()), place.path, mode)
      require(place, Some(1), mode)
      notes.foreach(note => assert(!read(place.path).schema("id").metadata.contains(note)))
    }
  }

  test("tasks get no metadata") {
    val place = atPath()
    save("errorifexists")._2(place, first)
    assert(read(place.path).schema("id").metadata.contains("number"))
    val scan = read(place.path).queryExecution.executedPlan.collectFirst {
      case batch: org.apache.spark.sql.execution.datasources.v2.BatchScanExec => batch.batch
    }.get
    val sent = new java.io.ByteArrayOutputStream()
    new java.io.ObjectOutputStream(sent).writeObject(scan.createReaderFactory())
    assert(!sent.toString("ISO-8859-1").contains("ml_attr"))
  }
}
