package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{ElementType, FieldRules, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.path.SparkStorages
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder, StructField}

/** What an application says of a column, such as the attributes of Spark ML, on every way to write
  * and to read a dataset. Each way that creates or replaces rows keeps what the query says, and
  * each way that adds rows or renames keeps what the dataset has.
  */
class ColumnMetadataSuite extends SparkSuite with PySparkSessions {
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

  private def session: SparkSession = SparkSession.active

  private def frame(metadata: Metadata): DataFrame =
    session.range(3).select(col("id").as("id", metadata), col("id").cast("string").as("s"))

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
    Place(managedPath(name), name)
  }

  private def managedPath(name: String): String =
    s"${spark.conf.get("spark.sql.warehouse.dir")}/$name"

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

  private def sql(text: String): Unit = { session.sql(text); () }

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
    requireOf(session.table(place.name).schema("id"), number, s"$way, by name")
    val newest = tableAt(place.path).latest().version()
    for (
      (reading, shown) <- Seq(
        "a version" -> read(place.path, "versionAsOf" -> newest.toString),
        "a version in SQL" -> session.sql(
          s"select * from ${place.name} version as of $newest"
        ),
        "a version of a table" ->
          session.read.option("versionAsOf", newest.toString).table(place.name)
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
      for (place <- Seq(atPath(), managed())) replaced(place, way, replace)
    }

  /** Spark 3 keeps the analyzed query of these, and not of a dynamic overwrite. */
  for ((way, replace) <- fitted)
    test(s"$way replaces what is said of a column, in a session of PySpark") {
      inPySpark { session =>
        configuration.foreach { case (key, value) => session.conf.set(key, value) }
        read(freshDataset()).count()
        for (place <- Seq(atPath(), managed())) replaced(place, way, replace)
      }
    }

  test("a dynamic overwrite that is fitted, in a session of PySpark, says nothing before Spark 4") {
    inPySpark { session =>
      configuration.foreach { case (key, value) => session.conf.set(key, value) }
      val place = atPath()
      created(place, first)
      frame(second).select("s", "id").writeTo(place.name).overwritePartitions()
      require(place, if (spark.version.startsWith("3.")) None else Some(2), "fitted")
      frame(first).writeTo(place.name).overwritePartitions()
      require(place, Some(1), "not fitted")
    }
  }

  private def freshDataset(): String = {
    val path = freshPath()
    write(frame(first), path, "append")
    path
  }

  private def replaced(place: Place, way: String, replace: (Place, Metadata) => Unit): Unit = {
    created(place, first)
    replace(place, second)
    require(place, Some(2), way)
    replace(place, Metadata.empty)
    require(place, None, s"$way without")
    replace(place, first)
    require(place, Some(1), s"$way again")
    assert(read(place.path, "versionAsOf" -> "1").schema("id").metadata.getLong("number") == 2)
  }

  /** Statements that overwrite the table that they read, and what is said of the result. */
  private val ofItself: Seq[(String, String => String, Option[Long])] = Seq(
    ("by position", t => s"insert overwrite $t select id, s from $t", Some(1)),
    ("renamed", t => s"insert overwrite $t select id a, s b from $t", Some(1)),
    ("computed", t => s"insert overwrite $t select id * 2, s from $t", None),
    ("cast", t => s"insert overwrite $t select cast(id as int), s from $t", None),
    (
      "as a common table",
      t => s"with x as (select id * 2 a, s from $t) insert overwrite $t select a, s from x",
      None
    ),
    (
      "joined",
      t => s"insert overwrite $t select l.id + r.id n, l.s from $t l join $t r on l.id = r.id",
      None
    ),
    (
      "another column under its name",
      t => s"insert overwrite $t select cast(s as bigint) id, cast(id as string) s from $t",
      None
    ),
    ("with another type beside", t => s"insert overwrite $t select id, 5 s from $t", Some(1))
  )

  for ((how, statement, said) <- ofItself; late <- Seq(false, true))
    test(s"an overwrite of what it reads, $how, says what its query says (late: $late)") {
      def check(): Unit = for (place <- Seq(atPath(), managed())) {
        created(place, first)
        sql(statement(place.name))
        requireOf(read(place.path).schema("id"), said, how)
        assert(read(place.path).count() == 3)
      }
      if (late) inPySpark { session =>
        configuration.foreach { case (key, value) => session.conf.set(key, value) }
        read(freshDataset()).count()
        check()
      }
      else check()
    }

  test("NOT NULL holds for an overwrite that reads its own table") {
    val name = freshTable()
    sql(s"create table $name (id bigint not null, s string) using zrecord")
    sql(s"insert into $name values (1, 'a'), (2, 'b')")
    for (
      statement <- Seq(
        s"insert overwrite $name select nullif(id, 2), s from $name",
        s"with x as (select nullif(id, 2) a, s from $name) insert overwrite $name select * from x"
      )
    ) {
      val message = failure(sql(statement))
      assert(message.contains("id") && message.toLowerCase.contains("null"), message)
      assert(spark.table(name).count() == 2)
    }
  }

  test("a column of limited length says what the query of an overwrite says") {
    val name = freshTable()
    sql(s"create table $name (id bigint, c varchar(5), d char(3)) using zrecord")
    val names = Seq("c", "d")
    def overwrite(metadata: Metadata): Unit = frame(Metadata.empty)
      .select(col("id").cast("int").as("id") +: names.map(c => lit("x").as(c, metadata)): _*)
      .writeTo(name)
      .overwrite(lit(true))
    overwrite(first)
    names.foreach(c => assert(spark.table(name).schema(c).metadata.getLong("number") == 1))
    overwrite(second)
    names.foreach(c => assert(spark.table(name).schema(c).metadata.getLong("number") == 2))
    overwrite(Metadata.empty)
    names.foreach(c => assert(!spark.table(name).schema(c).metadata.contains("number")))
    assert(failure(sql(s"insert overwrite $name select 1, 'too long', 'x'")).contains("length"))
  }

  test("a column that is widened or made anew by Spark says what the query says of it") {
    val place = atPath()
    created(place, first)
    frame(second)
      .select(col("id").cast("int").as("id", second), col("s"))
      .writeTo(place.name)
      .overwrite(lit(true))
    require(place, Some(2), "widened")
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

  test("an overwrite forgets what was said of a column that it leaves out") {
    val path = freshPath()
    val seven = FieldRules.NONE.withWrite(Array[Byte](7, 0, 0, 0))
    val writer = RecordDatasetWriter.create(
      SparkStorages.storageFor(path),
      new RecordSchema(
        RecordSchema
          .builder()
          .field("id", ElementType.I64)
          .field("n", ElementType.I32)
          .build()
          .fields()
          .asScala
          .map(field => if (field.name == "n") field.withRules(seven) else field)
          .asJava
      ),
      WriteOptions.defaults()
    )
    writer.commit()
    writer.close()
    def overwrite(columns: org.apache.spark.sql.Column*): Unit =
      write(spark.range(3).select(columns: _*), path, "overwrite")
    overwrite(col("id"), col("id").cast("int").as("n", first))
    assert(read(path).schema("n").metadata.getLong("number") == 1)
    overwrite(col("id"))
    assert(read(path).where("n = 7").count() == 3)
    assert(!read(path).schema("n").metadata.contains("number"))
    assert(read(path).schema("n").metadata.contains("CURRENT_DEFAULT"))
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
