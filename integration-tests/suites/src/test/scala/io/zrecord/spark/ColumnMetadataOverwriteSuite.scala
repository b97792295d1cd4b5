package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{ElementType, FieldRules, RecordSchema}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.path.SparkStorages
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.Metadata

/** What an application says of a column, after statements that overwrite the dataset: what their
  * query says takes the place of what the dataset had.
  */
class ColumnMetadataOverwriteSuite extends DescribedColumns with PySparkSessions {

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
        val renamed = frame(m).toDF("a", "b").select(col("a").as("a", m), col("b"))
        sql(s"insert overwrite ${p.name} table ${viewOf(renamed)}")
      }
    ),
    (
      "INSERT OVERWRITE beside a column of another type",
      (p, m) => {
        val other = frame(m).withColumn("s", col("s").cast("int"))
        sql(s"insert overwrite ${p.name} table ${viewOf(other)}")
      }
    )
  )

  private def withSetting(key: String, value: String)(body: => Unit): Unit = {
    val before = spark.conf.getOption(key)
    spark.conf.set(key, value)
    try body
    finally before.fold(spark.conf.unset(key))(spark.conf.set(key, _))
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
}
