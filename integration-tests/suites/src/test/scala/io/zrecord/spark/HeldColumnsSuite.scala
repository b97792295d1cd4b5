package io.zrecord.spark

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.connector.catalog.Column

/** What a data frame shows after a statement has given the name of one of its columns to another
  * column. Spark 4.2 compares the numbers of columns, which earlier releases do not know.
  */
class HeldColumnsSuite extends SparkSuite with AlteredTables {
  private def comparesNumbers: Boolean =
    classOf[Column].getMethods.exists(_.getName == "id")

  private val ways: Seq[(String, Altered => DataFrame)] = Seq(
    "name" -> (t => spark.table(t.name)),
    "path" -> (t => spark.table(s"zrecord.`${t.path}`")),
    "load" -> (t => read(t.path))
  )

  /** Changes, and whether they give the name of a held column to another one. */
  private val changes: Seq[(Boolean, Seq[String])] = Seq(
    true -> Seq("drop column a", "add column a int"),
    true -> Seq("drop column a", "add column a int default 77"),
    true -> Seq("rename column a to old", "add column a int default 77"),
    true -> Seq("rename column a to t", "rename column b to a", "rename column t to b"),
    false -> Seq("add column c int default 3"),
    false -> Seq("alter column b first"),
    false -> Seq("alter column b comment 'x'"),
    false -> Seq("alter column a set default 5"),
    false -> Seq("rename column a to z", "rename column z to a"),
    false -> Seq("set tblproperties ('q' = '1')")
  )

  for ((way, hold) <- ways)
    test(s"a data frame that is held by its $way never shows another column under a name") {
      for ((isOther, statements) <- changes) {
        val t = created("id int, a int, b int", "(1, 10, 100)", "(2, 20, 200)")
        val held = hold(t)
        // Each operation on a data frame is planned anew.
        def shown = held.select("id", "a", "b").collect().toSet
        val before = shown
        val filtered = hold(t).filter("a = 10").select("id", "a")
        statements.foreach(t.alter)
        if (isOther && comparesNumbers) {
          for (frame <- Seq(() => shown, () => filtered.collect())) {
            val message = failure(frame())
            assert(message.contains("COLUMNS_MISMATCH"), s"$statements: $message")
          }
          hold(t).select("id", "a", "b").collect()
        } else if (!isOther || !loadsAgain) {
          assert(shown == before, statements)
          assert(filtered.collect().toSeq == Seq(Row(1, 10)), statements)
        }
      }
    }

  for ((way, hold) <- ways)
    test(s"a view and an append of what is held by its $way, as the page says") {
      val t = created("id int, a int, b int", "(1, 10, 100)", "(2, 20, 200)")
      val held = hold(t)
      val before = Set(Row(1, 10, 100), Row(2, 20, 200))
      val now = Set(Row(1, 77, 100), Row(2, 77, 200))
      val view = "v_" + t.table
      held.createOrReplaceTempView(view)
      t.alter("drop column a")
      t.alter("add column a int default 77")
      val shown = sql(s"select id, a, b from $view").toSet
      assert(shown == (if (loadsAgain) now else before))
      val copy = created("id int, a int, b int")
      held.writeTo(copy.name).append()
      val stored = spark.table(copy.name).collect().toSet
      // Spark 4 resolves the path of such a data frame once more, as each Spark does a name.
      val isResolvedAgain = way != "load" || !spark.version.startsWith("3.")
      assert(stored == (if (isResolvedAgain) now else before))
    }

  test("numbers of columns stay with their table") {
    val t = created("id int, a int default 5", "(1, 10)")
    val key = "__FIELD_ID"
    t.alter("drop column a")
    t.alter("add column a int")
    def attributes(table: Altered) = {
      val text = table.engine.latest().schema().fields().toString
      assert(!text.contains(key), text)
    }
    val copy = new Altered
    sql(s"create table ${copy.name} using zrecord as select a, id from ${t.name}")
    assert(copy.engine.latest().schema().find("a").get().id() == 1)
    attributes(copy)
    spark.table(t.name).writeTo(copy.name).using("zrecord").createOrReplace()
    attributes(copy)
    val saved = freshPath()
    write(spark.table(t.name), saved, "append")
    assert(!tableAt(saved).latest().schema().fields().toString.contains(key))
    for (version <- Seq(0, 1)) {
      val old = spark.read.format("zrecord").option("versionAsOf", version).load(t.path)
      assert(old.columns.toSeq == Seq("id", "a"))
    }
    assert(sql(s"describe ${t.name}").map(_.getString(0)) == Seq("id", "a"))
    val other = spark.table(t.name).union(spark.table(copy.name).select("id", "a"))
    assert(other.count() == 2)
  }

  test("an entry of the session's catalog has no numbers, and outlives the release of Spark") {
    // Spark 3 keeps such entries only where the catalog of sessions is zrecord's.
    assume(!spark.version.startsWith("3."))
    val (entry, path) = (freshTable(), freshPath())
    write(spark.sql("select 1 id"), path, "append")
    sql(s"create table $entry using zrecord location '$path'")
    val declared = spark.sessionState.catalog.getTableMetadata(TableIdentifier(entry)).schema
    assert(!declared.json.contains("__FIELD_ID"), declared.json)
    assert(sql(s"select * from $entry") == Seq(Row(1)))
    sql(s"drop table $entry")
  }
}

/** The same of tables of the session's catalog. */
class HeldColumnsOfSessionSuite extends HeldColumnsSuite {
  override protected def inSessionCatalog: Boolean = true
}
