package io.zrecord.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/** What an application says of a column, on every way to create and to read a dataset, and on every
  * way that adds rows or renames, which keeps what the dataset has.
  */
class ColumnMetadataSuite extends DescribedColumns {
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

  /** Ways to add rows, and changes that are none of the rows. */
  private val additions: Seq[Way] = Seq(
    save("append"),
    save("append", "mergeSchema" -> "true"),
    ("append", (p, m) => frame(m).writeTo(p.name).append()),
    ("INSERT", (p, m) => sql(s"insert into ${p.name} table ${view(m)}"))
  )

  for (((way, create), place) <- creations)
    test(s"what an application says of a column comes back after $way") {
      val at = place()
      create(at, first)
      require(at, Some(1), way)
      val copy = atPath()
      write(spark.table(at.name), copy.path, "errorifexists")
      require(copy, Some(1), s"$way and a copy")
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

  test("an older version is read by the name of its table where the same is said of its columns") {
    val place = managed()
    created(place, first)
    write(frame(first), place.path, "overwrite")
    write(frame(second), place.path, "overwrite")
    write(frame(second), place.path, "append")
    def named(version: Int) = spark.read.option("versionAsOf", version.toString).table(place.name)
    assert(named(2).count() == 3 && named(3).count() == 6)
    requireOf(named(2).schema("id"), Some(2), "the same")
    requireOlder(named(1).select("id", "s"), place, "has the metadata") { older =>
      requireOf(older.schema("id"), Some(1), "other metadata")
    }
  }

  test("an older version is read by the name of its table where its columns have the same shapes") {
    val place = managed()
    def save(shape: String, mode: String): Unit = write(
      spark.range(2).selectExpr("array(1f, 2f, 3f, 4f, 5f, cast(id as float)) as m"),
      place.path,
      mode,
      "shape.m" -> shape,
      "overwriteSchema" -> (mode == "overwrite").toString
    )
    save("2,3", "errorifexists")
    sql(s"create table ${place.name} using zrecord location '${place.path}'")
    save("3,2", "overwrite")
    val older = spark.read.option("versionAsOf", "0").table(place.name)
    requireOlder(older, place, "zrecord.shape") { older =>
      assert(older.schema("m").metadata.getLongArray("zrecord.shape").toSeq == Seq(2L, 3L))
    }
  }

  /** Spark 3 knows the columns before the version: a version with other columns is refused. */
  private def requireOlder(older: DataFrame, place: Place, words: String)(
      check: DataFrame => Unit
  ): Unit = {
    if (spark.version.startsWith("3.")) {
      val message = failure(older.collect())
      assert(message.contains(words) && message.contains(place.path), message)
    } else {
      assert(older.count() > 0)
      check(older)
    }
  }

  test("numbers that JSON does not have are refused where they would be kept") {
    for (number <- Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity)) {
      val inner = new MetadataBuilder().putDoubleArray("most", Array(1, number)).build()
      val metadata =
        new MetadataBuilder().withMetadata(first).putMetadata("inner", inner).build()
      val place = atPath()
      val message = failure(write(frame(metadata), place.path, "append"))
      assert(message.contains("column 'id' has metadata with NaN or an infinity"), message)
      created(place, second)
      write(frame(metadata), place.path, "append")
      assert(read(place.path).count() == 6)
      require(place, Some(2), "an append")
    }
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
