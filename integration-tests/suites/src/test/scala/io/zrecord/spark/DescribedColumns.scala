package io.zrecord.spark

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.{Metadata, MetadataBuilder, StructField}

/** Datasets and tables with a column of which an application says something, such as the attributes
  * of Spark ML.
  */
trait DescribedColumns extends SparkSuite {
  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog"
  )

  protected val first = said(1)
  protected val second = said(2)
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

  protected def session: SparkSession = SparkSession.active

  protected def frame(metadata: Metadata): DataFrame =
    session.range(3).select(col("id").as("id", metadata), col("id").cast("string").as("s"))

  protected def view(metadata: Metadata): String = viewOf(frame(metadata))

  protected def viewOf(data: DataFrame): String = {
    val name = views.next()
    data.createOrReplaceTempView(name)
    name
  }

  /** A table: a path, and the name by which statements know the table. */
  protected case class Place(path: String, name: String)

  protected def atPath(): Place = {
    val path = freshPath()
    Place(path, s"zrecord.`$path`")
  }

  protected def managed(): Place = {
    val name = freshTable()
    Place(managedPath(name), name)
  }

  protected type Way = (String, (Place, Metadata) => Unit)

  protected def save(mode: String, options: (String, String)*): Way =
    (
      s"save($mode) ${options.mkString}",
      (place, metadata) => write(frame(metadata), place.path, mode, options: _*)
    )

  protected def sql(text: String): Unit = { session.sql(text); () }

  protected def created(place: Place, metadata: Metadata): Unit =
    if (place.name.startsWith("zrecord.")) write(frame(metadata), place.path, "errorifexists")
    else frame(metadata).write.format("zrecord").saveAsTable(place.name)

  /** Requires that a column says what an application said, and what zrecord says. */
  protected def requireOf(column: StructField, number: Option[Long], way: String): Unit = {
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

  protected def require(place: Place, number: Option[Long], way: String): Unit = {
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
}
