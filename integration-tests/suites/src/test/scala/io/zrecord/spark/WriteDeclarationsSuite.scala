package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{Compression, ElementType, FieldRules, FieldSpec, RecordSchema, Shape}
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.path.SparkStorages
import io.zrecord.testing.Budget
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.lit

/** What the fields of a dataset declare holds on every way to write: a table of ways and
  * declarations, with its exceptions.
  */
class WriteDeclarationsSuite extends SessionTablesSuite {
  private val Columns = Seq("id", "d", "n", "s", "a")

  private val defaults = Map[String, Any]("d" -> 7, "s" -> "it's \\ x", "a" -> Seq(1.5f, -2f))

  private def field(
      id: Int,
      name: String,
      kind: ElementType,
      codec: String,
      rules: FieldRules,
      shape: Shape = Shape.scalar()
  ) = new FieldSpec(
    id,
    name,
    kind,
    shape,
    Compression.parse(codec),
    Map("of" -> name).asJava,
    rules
  )

  private val fields = Seq(
    field(1, "id", ElementType.I32, "raw", FieldRules.NONE),
    field(
      2,
      "d",
      ElementType.I32,
      "zstd:3",
      FieldRules.NONE.withWrite(Array[Byte](7, 0, 0, 0)).withComment("seven")
    ),
    field(3, "n", ElementType.I32, "flate", FieldRules.NONE.withNullable(false)),
    field(
      4,
      "s",
      ElementType.UTF8,
      "lz4",
      FieldRules.NONE.withWrite("it's \\ x".getBytes("UTF-8"))
    ),
    field(
      5,
      "a",
      ElementType.F32,
      "raw",
      FieldRules.NONE.withWrite(Array[Byte](0, 0, -64, 63, 0, 0, 0, -64)),
      Shape.of(2)
    )
  )

  /** Makes a dataset without records. */
  private def declared(): String = {
    val path = freshPath()
    val writer = RecordDatasetWriter.create(
      SparkStorages.storageFor(path),
      new RecordSchema(fields.asJava),
      WriteOptions.defaults()
    )
    writer.commit()
    writer.close()
    path
  }

  private def declaredFields(path: String): Seq[FieldSpec] =
    tableAt(path).latest().schema().fields().asScala.toSeq

  /** Where a write goes: its name in SQL, and its path. */
  private case class Target(name: String, path: String)

  private val targets: Seq[(String, () => Target)] = Seq(
    "path" -> { () =>
      val path = declared()
      Target(s"zrecord.`$path`", path)
    },
    "session table" -> { () =>
      val path = declared()
      val name = freshTable()
      spark.sql(s"create table $name using zrecord location '$path'")
      Target(name, path)
    }
  )

  /** A way to write.
    *
    * @param isByName
    *   whether columns can be left out
    * @param replaces
    *   whether the rows that were there go
    * @param isFilledBySpark
    *   whether Spark gives columns that are left out their defaults, which it does from 4.1 on, or
    *   else refuses
    * @param keeps
    *   whether the fields stay: an exception replaces the table, as Spark says
    */
  private case class Way(
      name: String,
      isByName: Boolean,
      replaces: Boolean,
      isFilledBySpark: Boolean,
      keeps: Boolean = true
  )(val write: (Target, DataFrame) => Unit)

  private def sql(statement: String)(target: Target, data: DataFrame): Unit = {
    data.createOrReplaceTempView("src")
    val columns = data.columns.mkString(", ")
    spark.sql(statement.replace("%t", target.name).replace("%c", columns))
  }

  private val ways = Seq(
    Way("INSERT by position", false, false, true)(sql("insert into %t select %c from src")),
    Way("INSERT with columns", true, false, true)(sql("insert into %t (%c) select %c from src")),
    Way("INSERT BY NAME", true, false, true)(sql("insert into %t by name select %c from src")),
    Way("INSERT OVERWRITE", false, true, true)(sql("insert overwrite %t select %c from src")),
    Way("INSERT OVERWRITE with columns", true, true, true)(
      sql("insert overwrite %t (%c) select %c from src")
    ),
    Way("save append", true, false, false)((t, d) => write(d, t.path, "append")),
    Way("save overwrite", true, true, false)((t, d) => write(d, t.path, "overwrite")),
    Way("insertInto", false, false, true)((t, d) => d.write.insertInto(t.name)),
    Way("insertInto overwrite", false, true, true)((t, d) =>
      d.write.mode("overwrite").insertInto(t.name)
    ),
    Way("saveAsTable append", true, false, true)((t, d) =>
      d.write.format("zrecord").mode("append").saveAsTable(t.name)
    ),
    Way("writeTo append", true, false, true)((t, d) => d.writeTo(t.name).append()),
    Way("writeTo overwrite", true, true, true)((t, d) => d.writeTo(t.name).overwrite(lit(true))),
    Way("saveAsTable overwrite", true, true, false, keeps = false)((t, d) =>
      d.write.format("zrecord").mode("overwrite").saveAsTable(t.name)
    ),
    Way("createOrReplace", true, true, false, keeps = false)((t, d) =>
      d.writeTo(t.name).using("zrecord").createOrReplace()
    )
  )

  private def fills: Boolean =
    !spark.version.startsWith("3.") && !spark.version.startsWith("4.0")

  /** Returns a row with an id and a value for each of the other columns. */
  private def data(id: Int, columns: Seq[String]): DataFrame = {
    val values = Map(
      "id" -> s"$id id",
      "d" -> "1 d",
      "n" -> "2 n",
      "s" -> "'v' s",
      "a" -> "array(float(1), float(2)) a"
    )
    spark.sql(columns.map(values).mkString("select ", ", ", ""))
  }

  private def without(names: String*): Seq[String] = Columns.filterNot(names.contains)

  private def found(path: String): Seq[Row] =
    read(path).select(Columns.head, Columns.tail: _*).collect().sortBy(_.getInt(0)).toSeq

  private def row(id: Int, columns: Seq[String]): Row = {
    val values = Map[String, Any]("id" -> id, "d" -> 1, "n" -> 2, "s" -> "v", "a" -> Seq(1f, 2f))
    Row(Columns.map(name => if (columns.contains(name)) values(name) else defaults(name)): _*)
  }

  private def isRefusedEarly(target: Target, what: String)(action: => Any): Unit = {
    val before = (found(target.path), declaredFields(target.path))
    val message = failure(action)
    assert(message.contains(what), message)
    assert(!message.contains("IllegalStateException") && !message.contains("Task"), message)
    assert((found(target.path), declaredFields(target.path)) == before)
  }

  private val leftOut = Seq(Seq("d"), Seq("s"), Seq("a"), Seq("d", "s", "a"))

  for ((where, make) <- targets; way <- ways)
    test(s"${way.name} into a $where obeys the fields and keeps them (seed ${Budget.seed})") {
      val target = make()
      val ids = Iterator.from(2)
      write(data(1, Columns), target.path, "append")
      val first = Seq.fill(2)(ids.next())
      for (id <- first) way.write(target, data(id, Columns))
      val expected = if (way.replaces) first.takeRight(1) else 1 +: first
      assert(found(target.path) == expected.map(row(_, Columns)))
      if (way.keeps) assert(declaredFields(target.path) == fields)
      else assert(declaredFields(target.path).forall(f => f.rules().isNullable))
      if (way.isByName && way.keeps) {
        for (left <- chosen(leftOut)) {
          val data = this.data(ids.next(), without(left: _*))
          if (way.isFilledBySpark && !fills)
            isRefusedEarly(target, left.head)(way.write(target, data))
          else {
            way.write(target, data)
            val last = found(target.path).last
            assert(last == row(last.getInt(0), without(left: _*)), left)
            assert(declaredFields(target.path) == fields)
          }
        }
        isRefusedEarly(target, "n")(way.write(target, data(ids.next(), without("n"))))
      }
      if (way.keeps) {
        val before = found(target.path)
        val nulls = data(ids.next(), Columns).selectExpr("id", "d", "nullif(n, n) n", "s", "a")
        val message = failure(way.write(target, nulls))
        assert(isRefusalOfNull(message, "n"), message)
        assert(found(target.path) == before)
      }
    }

  for ((where, make) <- targets)
    test(s"DEFAULT among the VALUES of an INSERT into a $where") {
      val target = make()
      spark.sql(s"insert into ${target.name} values (1, default, 2, default, default)")
      assert(found(target.path) == Seq(row(1, without("d", "s", "a"))))
      val message =
        failure(spark.sql(s"insert into ${target.name} values (2, 1, default, 's', null)"))
      assert(message.contains("n") && !message.contains("IllegalStateException"), message)
      assert(found(target.path).size == 1)
    }

  for ((where, make) <- targets)
    test(s"DESCRIBE EXTENDED says the defaults of a $where") {
      val target = make()
      def described(extended: String) = spark
        .sql(s"describe table $extended ${target.name}")
        .collect()
        .map(_.toSeq.mkString(" "))
        .toSeq
      val said = described("extended").dropWhile(_ != "# Column Default Values  ")
      for ((name, words) <- Seq("d" -> "int CAST('7' AS INT)", "s" -> "string", "a" -> "array"))
        assert(said.exists(_.startsWith(s"$name $words")), described("extended"))
      assert(!said.exists(_.startsWith("n ")), said)
      // Without EXTENDED no Spark says them.
      assert(!described("").exists(_.contains("Default")))
      assert(declaredFields(target.path) == fields)
    }

  test("overwriteSchema replaces what the fields declare, and nothing else does") {
    val path = declared()
    write(data(1, Columns), path, "append")
    val other = spark.sql("select 1 id, 'text' d")
    assert(failure(write(other, path, "overwrite")).contains("overwriteSchema=true"))
    assert(
      failure(write(data(2, Columns), path, "append", "overwriteSchema" -> "true"))
        .contains("leave it out")
    )
    assert(declaredFields(path) == fields)
    write(other, path, "overwrite", "overwriteSchema" -> "true")
    assert(read(path).collect().toSeq == Seq(Row(1, "text")))
    assert(declaredFields(path).forall(f => f.rules() == FieldRules.NONE))
  }

  test("an overwrite that asks for a codec changes the codec only") {
    val path = declared()
    write(data(1, Columns), path, "overwrite", "compression.d" -> "lz4")
    val expected =
      fields.map(f => if (f.name() == "d") f.withCompression(Compression.parse("lz4")) else f)
    assert(declaredFields(path) == expected)
  }

  test("the frame of a dataset says which columns are never null") {
    val path = declared()
    val nullable = read(path).schema.fields.map(f => f.name -> f.nullable).toMap
    assert(nullable == Columns.map(name => name -> (name != "n")).toMap)
    assert(read(path, "numPartitions" -> "1").where("n is null").count() == 0)
  }
}
