package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.spark.path.SparkStorages
import io.zrecord.schema.{ElementType, RecordSchema}
import io.zrecord.table.{RecordTable, TableChange => EngineChange}
import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.catalog.{Identifier, TableChange}
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Columns and properties are changed by one commit, at a name and at a path. */
class AlterTableSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName,
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private class Altered(val name: String, path: String) {
    def table: RecordTable = RecordTable.at(SparkStorages.storageFor(path))
    def rows: Seq[Seq[Any]] = sql(s"select * from $name order by _index").map(_.toSeq)
    def columns: Seq[String] = spark.table(name).columns.toSeq

    /** Says that a statement makes one version, and leaves the files of shards and old versions. */
    def apply(statement: String): Unit = {
      val before = table.latest()
      val files = filesOf(path)
      def shards = files.names.filter(_.startsWith("shard/")).map(n => n -> files.bytes(n).toSeq)
      val old = shards
      val oldRows = sql(s"select * from $name version as of ${before.version()} order by _index")
      sql(s"alter table $name $statement")
      assert(table.latest().version() == before.version() + 1, statement)
      assert(shards == old, statement)
      assert(
        sql(s"select * from $name version as of ${before.version()} order by _index") == oldRows
      )
    }
  }

  private def created(place: String): Altered = {
    val table = freshTable()
    val (name, path) = place match {
      case "a name" => (s"lake.$table", s"$warehouse/$table")
      case "a path" => (s"lake.`$warehouse/$table`", s"$warehouse/$table")
      case "a session table" => (table, managedPath(table))
    }
    sql(s"create table $name (id int, name string, score float) using zrecord")
    sql(s"insert into $name values (1, 'a', 0.5), (2, 'b', null)")
    new Altered(name, path)
  }

  for (place <- Seq("a name", "a path", "a session table")) {
    test(s"columns of $place are added, moved, renamed, widened and dropped") {
      val t = created(place)
      t("add column label int comment 'the label' after id")
      assert(t.columns == Seq("id", "label", "name", "score"))
      assert(t.rows == Seq(Seq(1, null, "a", 0.5f), Seq(2, null, "b", null)))
      t("add columns (first_one bigint default 7 first, last_one string default 'x')")
      assert(t.columns == Seq("first_one", "id", "label", "name", "score", "last_one"))
      assert(t.rows.head == Seq(7L, 1, null, "a", 0.5f, "x"))
      t("rename column name to title")
      t("alter column id type bigint")
      t("alter column score first")
      t("alter column label comment 'another'")
      t("drop column first_one")
      assert(t.columns == Seq("score", "id", "label", "title", "last_one"))
      assert(t.rows == Seq(Seq(0.5f, 1L, null, "a", "x"), Seq(null, 2L, null, "b", "x")))
      assert(spark.table(t.name).schema("label").getComment().contains("another"))
      sql(s"insert into ${t.name} values (1.5, 5000000000, 3, 'c', 'y')")
      assert(t.rows.last == Seq(1.5f, 5000000000L, 3, "c", "y"))
      // A column that was dropped does not come back with a name.
      t("add column first_one bigint")
      assert(t.rows.map(_.last) == Seq(null, null, null))
      t("drop columns (first_one, last_one)")
      assert(t.columns == Seq("score", "id", "label", "title"))
    }

    test(s"defaults, nullability and properties of $place are changed") {
      val t = created(place)
      t("alter column score set default 2.5")
      sql(s"insert into ${t.name} values (3, 'c', default)")
      assert(t.rows.last == Seq(3, "c", 2.5f))
      t("alter column score drop default")
      sql(s"insert into ${t.name} values (4, 'd', default)")
      assert(t.rows.last == Seq(4, "d", null))
      t("set tblproperties ('a' = '1', 'b' = '2', 'comment' = 'numbers')")
      t("unset tblproperties ('a')")
      val declared = t.table.latest().declarations()
      assert(declared.comment() == "numbers" && declared.properties().get("b") == "2")
      assert(!declared.properties().containsKey("a"))
      sql(s"comment on table ${t.name} is 'others'")
      assert(t.table.latest().declarations().comment() == "others")
    }

    test(s"what cannot be done to $place is refused, and nothing is changed") {
      val t = created(place)
      val before = t.table.latest().version()
      for (
        (statement, words) <- Seq(
          "add column name string" -> "already exists",
          "add column _index int" -> "_index",
          "add column x int not null" -> "initial",
          "add column x array<varchar(3)>" -> "varchar(3)",
          "add column x array<int> default array(1)" -> "a default of the type",
          "drop column missing" -> "missing",
          "rename column name to _index" -> "metadata column",
          "alter column name type varchar(5)" -> "NOT_SUPPORTED_CHANGE_COLUMN",
          "alter column name type int" -> "NOT_SUPPORTED_CHANGE_COLUMN",
          "alter column id type string" -> "cannot be read as utf8",
          "alter column id set not null" -> "Cannot change nullable column to non-nullable",
          "set tblproperties ('zrecord.unknown' = '1')" -> "zrecord.unknown",
          "set tblproperties ('write.x' = '1')" -> "write.x",
          "set tblproperties ('fs.s3a.secret.key' = 'hush')" -> "fs.s3a.secret.key",
          "replace columns (id int, other string)" -> "lose its values",
          "partition (id = 1) set location '/x'" -> "partition for v2 tables"
        )
      ) {
        val message = failure(sql(s"alter table ${t.name} $statement"))
        assert(message.contains(words), s"$statement: $message")
        assert(!message.contains("hush"), statement)
        assert(t.table.latest().version() == before, statement)
      }
      assert(t.rows == Seq(Seq(1, "a", 0.5f), Seq(2, "b", null)))
    }
  }

  test("a default that a field of another program's table cannot hold is refused") {
    val table = freshTable()
    val fields = RecordSchema
      .builder()
      .field("u8", ElementType.U8)
      .field("u64", ElementType.U64)
      .field("f16", ElementType.F16)
      .field("i8", ElementType.I8)
      .build()
    val t = new Altered(s"lake.$table", s"$warehouse/$table")
    t.table.commit(EngineChange.of(EngineChange.Kind.CREATE, fields).build())
    for (column <- Seq("u8", "u64", "f16")) {
      val message = failure(sql(s"alter table ${t.name} alter column $column set default 3"))
      assert(message.contains("leave DEFAULT out"), message)
    }
    assert(t.table.latest().version() == 0)
    t("alter column i8 set default -3")
  }

  test("several changes are one version, each after those before") {
    val t = created("a name")
    val before = t.table.latest().version()
    val catalog = new ZRecordCatalog
    catalog.initialize("lake", new CaseInsensitiveStringMap(Map("warehouse" -> warehouse).asJava))
    catalog.alterTable(
      Identifier.of(Array(), t.name.stripPrefix("lake.")),
      TableChange.renameColumn(Array("name"), "old_name"),
      TableChange.addColumn(Array("name"), LongType),
      TableChange.deleteColumn(Array("old_name"), false),
      TableChange.setProperty("a", "1")
    )
    assert(t.table.latest().version() == before + 1)
    assert(t.rows == Seq(Seq(1, 0.5f, null), Seq(2, null, null)))
  }

  test("a date that no timestamp has is read in the version before it was widened") {
    val t = created("a name")
    t("add column day date")
    sql(s"insert into ${t.name} values (3, 'c', 1, date'+300000-01-01')")
    val before = t.table.latest().version()
    t("alter column day type timestamp_ntz")
    val message = failure(sql(s"select day from ${t.name} where id = 3"))
    assert(message.contains("VERSION AS OF"), message)
    val old = s"${t.name} version as of $before"
    assert(sql(s"select year(day) from $old where id = 3") == Seq(Row(300000)))
  }

  test("queries after a change see the new column") {
    val t = created("a name")
    t("add column label int default 3")
    assert(spark.table(t.name).where("label = 3").count() == 2)
    sql(s"insert into ${t.name} (id, name, score, label) values (9, 'z', 1, 4)")
    assert(t.rows.last == Seq(9, "z", 1.0f, 4))
  }
}
