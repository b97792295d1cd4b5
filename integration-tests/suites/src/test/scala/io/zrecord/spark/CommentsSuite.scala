package io.zrecord.spark

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.MetadataBuilder

/** Comments of columns, on every way to write a dataset. */
class CommentsSuite extends SparkSuite {
  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> "io.zrecord.spark.ZRecordSessionCatalog"
  )

  private def commented(comment: String, name: String = "id") =
    spark
      .range(3)
      .select(
        col("id").as(name, new MetadataBuilder().putString("comment", comment).build())
      )

  private def comment(path: String, name: String = "id"): Option[String] =
    read(path).schema(name).getComment()

  private val ways: Seq[(String, String => Unit)] = Seq(
    ("errorifexists", path => write(commented("the key"), path, "errorifexists")),
    ("append", path => write(commented("the key"), path, "append")),
    ("overwrite", path => write(commented("the key"), path, "overwrite")),
    ("create", path => commented("the key").writeTo(s"zrecord.`$path`").create()),
    (
      "SQL with a query",
      path => {
        commented("the key").createOrReplaceTempView("commented")
        spark.sql(s"create table zrecord.`$path` as select * from commented")
      }
    ),
    ("SQL", path => spark.sql(s"create table zrecord.`$path` (id bigint comment 'the key')"))
  )

  for ((way, create) <- ways)
    test(s"a comment comes back after $way") {
      val path = freshPath()
      create(path)
      assert(comment(path).contains("the key"))
      write(spark.range(2).toDF("id"), path, "append")
      assert(comment(path).contains("the key"))
      assert(
        spark
          .sql(s"describe zrecord.`$path`")
          .where("col_name = 'id'")
          .head()
          .getString(2) == "the key"
      )
      val copy = freshPath()
      write(read(path), copy, "errorifexists")
      assert(comment(copy).contains("the key"))
    }

  test("an added column has its comment, and the others keep theirs") {
    val path = freshPath()
    write(commented("the key"), path, "append")
    write(commented("more", "extra"), path, "append", "mergeSchema" -> "true")
    assert(comment(path).contains("the key"))
    assert(comment(path, "extra").contains("more"))
  }

  test("a comment of a table of the session's catalog is that of its dataset") {
    val path = freshPath()
    write(commented("of the dataset"), path, "append")
    val table = freshTable()
    spark.sql(s"create table $table using zrecord location '$path'")
    assert(spark.table(table).schema("id").getComment().contains("of the dataset"))
    spark.sql(s"alter table $table alter column id comment 'changed'")
    assert(spark.table(table).schema("id").getComment().contains("changed"))
    assert(comment(path).contains("changed"))
  }
}
