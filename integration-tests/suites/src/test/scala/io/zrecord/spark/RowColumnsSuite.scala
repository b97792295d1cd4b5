package io.zrecord.spark

import io.zrecord.spark.rules.ColumnsOfRowChanges
import org.apache.spark.sql.Row

/** UPDATE and MERGE read and write the columns that they need, and no other. */
class RowColumnsSuite extends SparkSuite {
  private lazy val warehouse = freshPath()
  private val imageBytes = 1 << 16
  private val count = 40

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** A table with an image in each record, and in records without a label, too. */
  private class Images {
    private val table = freshTable()
    val name = s"lake.$table"
    val path = s"$warehouse/$table"
    sql(
      s"create table $name (id bigint, label int, image binary not null, text string not null," +
        " nested struct<a: int, b: string>) using zrecord"
    )
    for (part <- 0 until 2)
      sql(s"""insert into $name select /*+ coalesce(1) */ id, cast(id % 10 as int),
             | cast(repeat('Z', $imageBytes) as binary), concat('t', id), named_struct('a', 1, 'b', 'x')
             | from range(${part * count / 2}, ${(part + 1) * count / 2}, 1, 1)""".stripMargin)

    /** Damages all images, so that whoever reads one fails; the second call mends them. */
    def damageImages(): Unit = {
      val files = filesOf(path)
      for (chunk <- files.names.filter(_.endsWith(".zr")))
        files.change(chunk) { bytes =>
          def isOfImage(i: Int): Boolean = (bytes(i) & ~1) == ('Z' & ~1)
          for (i <- 1 until bytes.length - 1)
            if (isOfImage(i - 1) && isOfImage(i) && isOfImage(i + 1))
              bytes(i) = (bytes(i) ^ 1).toByte
          bytes
        }
    }

    def bytes: Long = filesOf(path).names.toSeq.map(filesOf(path).bytes(_).length.toLong).sum
    def small: Seq[Row] = sql(s"select id, label, text, nested from $name order by _index")
    def images: Seq[Row] = sql(s"select length(image), md5(image) from $name order by _index")
  }

  private val changes = "(select explode(array(3L, 5L, 50L)) as id)"

  private val narrow = Seq(
    "update T set label = label + 1 where id < 5",
    "update T set label = -1 where text = 't7' or _index = 3",
    "update T set label = (select max(label) from T) where id = 3",
    "update T set label = 5 where id in (select id + 1 from T where label = 3)",
    "update T set text = concat(text, '!'), label = cast(id as int) where id % 2 = 0",
    "update T set id = label, label = cast(id as int)",
    "update T set label = label",
    "update T set nested.a = 99 where id < 3",
    "update T set label = null",
    s"merge into T t using $changes c on t.id = c.id when matched then update set label = 77",
    s"""merge into T t using $changes c on t.id = c.id when matched and c.id = 3 then delete
       | when matched then update set label = 8
       | when not matched by source and t.id = 9 then delete
       | when not matched by source and t.id < 20 then update set text = 'none'""".stripMargin
  )

  for (statement <- narrow)
    testLocally(s"no image is read or written by: ${statement.replace('\n', ' ')}") {
      val t = new Images
      val whole = new Images
      val images = t.images
      t.damageImages()
      val before = t.bytes
      sql(statement.replace("T", t.name))
      assert(t.bytes - before < imageBytes / 2, "bytes written")
      t.damageImages()
      // Without the rule all columns are read. The tasks find out what is new.
      spark.conf.set("spark.sql.optimizer.excludedRules", classOf[ColumnsOfRowChanges].getName)
      val wholeBefore = whole.bytes
      try sql(statement.replace("T", whole.name))
      finally spark.conf.unset("spark.sql.optimizer.excludedRules")
      assert(whole.bytes - wholeBefore < imageBytes / 2, "bytes written without the rule")
      assert(t.small == whole.small)
      assert(t.images == whole.images)
      assert(t.images.toSet.subsetOf(images.toSet))
    }

  private val wide = Seq(
    "update T set label = length(image)",
    "update T set label = -1 where length(image) > 5 and id = 3",
    "update T set image = cast('Y' as binary) where id = 3",
    s"merge into T t using $changes c on t.id = c.id and length(t.image) > 6" +
      " when matched then update set label = length(t.image)",
    s"""merge into T t using $changes c on t.id = c.id when matched then update set label = 77
       | when not matched then insert (id, label, image, text, nested)
       | values (c.id, 1, cast('new' as binary), 'new', null)""".stripMargin
  )

  for (statement <- wide)
    test(s"values that are needed are right: ${statement.replace('\n', ' ')}") {
      val t = new Images
      val whole = new Images
      sql(statement.replace("T", t.name))
      spark.conf.set("spark.sql.optimizer.excludedRules", classOf[ColumnsOfRowChanges].getName)
      try sql(statement.replace("T", whole.name))
      finally spark.conf.unset("spark.sql.optimizer.excludedRules")
      assert(t.small == whole.small)
      assert(t.images == whole.images)
    }

  test("a damaged image is found by whoever reads it, which is the control") {
    val t = new Images
    t.damageImages()
    assert(failure(sql(s"update ${t.name} set label = length(image) + hash(image)")) != null)
    assert(failure(t.images) != null)
  }
}
