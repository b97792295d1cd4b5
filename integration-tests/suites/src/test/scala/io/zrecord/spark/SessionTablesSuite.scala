package io.zrecord.spark

/** Names tables of the session catalog where ZRecordSessionCatalog is set, and looks at them. */
abstract class SessionTablesSuite extends SparkSuite {
  override protected def configuration: Map[String, String] =
    Map("spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog")

  protected def ids(table: String): Seq[Long] =
    spark.table(table).select("id").collect().map(_.getAs[Number](0).longValue).toSeq.sorted

  protected def locationOf(table: String): String =
    spark
      .sql(s"describe table extended $table")
      .where("col_name = 'Location'")
      .head()
      .getString(1)
      .replaceFirst("^file:/*", "/")

  protected def detail(table: String, name: String): Seq[String] =
    spark
      .sql(s"describe table extended $table")
      .where(s"col_name = '$name'")
      .collect()
      .map(_.getString(1))
      .toSeq

  protected def dataset(count: Long): String = {
    val path = freshPath()
    write(spark.range(count).toDF("id"), path, "append")
    path
  }

  protected def manifests(path: String): Int =
    filesOf(path).names.count(name => name.startsWith("manifest/") && name.endsWith(".json"))
}
