package io.zrecord.spark

import scala.collection.mutable
import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog, TableChange}
import org.apache.spark.sql.execution.datasources.v2.V2SessionCatalog

/** Names of tables that wander: whatever is renamed, altered, replaced and dropped, each table keeps
  * its own rows and its own files.
  */
class SessionCatalogRenameSuite extends SessionTablesSuite {
  private val seed = Budget.seed

  test("a table that is renamed and altered keeps its files beside a second table of the old name") {
    val (first, second) = (freshTable(), freshTable())
    spark.sql(s"create table $first using zrecord as select id from range(3)")
    spark.sql(s"alter table $first rename to $second")
    spark.sql(s"create table $first using zrecord as select id + 100 id from range(4)")
    spark.sql(s"comment on table $second is 'x'")
    assert(ids(second) == Seq(0, 1, 2))
    spark.sql(s"drop table $second")
    assert(ids(first) == Seq(100, 101, 102, 103))
  }

  test("an entry that an earlier release pointed at another table's files finds its own again") {
    for (change <- Seq("", "comment on table % is 'x'", "alter table % rename to %_2", "drop table %")) {
      val (first, second) = (freshTable(), freshTable())
      spark.sql(s"create table $first using zrecord as select id from range(3)")
      val old = locationOf(first)
      spark.sql(s"alter table $first rename to $second")
      spark.sql(s"create table $first using zrecord as select id + 100 id from range(4)")
      pointAt(second, old)
      if (change.nonEmpty) spark.sql(change.replace("%", second))
      if (change.contains("rename")) assert(ids(second + "_2") == Seq(0, 1, 2), change)
      else if (!change.contains("drop")) assert(ids(second) == Seq(0, 1, 2), change)
      assert(ids(first) == Seq(100, 101, 102, 103), change)
      spark.sql(s"drop table if exists $second")
      spark.sql(s"drop table if exists ${second}_2")
      assert(ids(first) == Seq(100, 101, 102, 103), change)
    }
  }

  /** Does to an entry what a change did when the entry kept its location among its properties. */
  private def pointAt(table: String, location: String): Unit =
    new V2SessionCatalog(spark.sessionState.catalog).alterTable(
      Identifier.of(Array("default"), table),
      TableChange.setProperty(TableCatalog.PROP_LOCATION, location)
    )

  test(s"any order of changes leaves every table its rows (seed $seed)") {
    val random = new Random(seed)
    for (round <- 0 until Budget.of(30)) {
      val names = Seq.fill(3)(freshTable())
      val model = mutable.Map.empty[String, Seq[Long]]
      val said = mutable.Buffer.empty[String]
      def say(statement: String): Unit = { said += statement; spark.sql(statement) }
      var next = 0L
      def rows(): Seq[Long] = { next += 10; Seq(next, next + 1) }
      for (_ <- 0 until 12) {
        val name = names(random.nextInt(names.size))
        val other = names(random.nextInt(names.size))
        if (!model.contains(name)) {
          val made = rows()
          val values = s"select explode(array(${made.mkString(", ")})) id"
          random.nextInt(3) match {
            case 0 => say(s"create table $name using zrecord as $values")
            case 1 => say(s"create or replace table $name using zrecord as $values")
            case 2 =>
              say(s"create table $name (id int) using zrecord")
              say(s"insert into $name $values")
          }
          model(name) = made
        } else
          random.nextInt(7) match {
            case 0 | 1 if !model.contains(other) =>
              say(s"alter table $name rename to $other")
              model(other) = model.remove(name).get
            case 2 => say(s"comment on table $name is 'n ${random.nextInt(9)}'")
            case 3 => say(s"alter table $name set tblproperties (k = '${random.nextInt(9)}')")
            case 4 => say(s"alter table $name unset tblproperties if exists (k)")
            case 5 =>
              val made = rows()
              say(
                s"create or replace table $name using zrecord as " +
                  s"select explode(array(${made.mkString(", ")})) id"
              )
              model(name) = made
            case 6 =>
              say(s"drop table $name")
              model.remove(name)
            case _ =>
              val made = rows().take(1)
              say(s"insert into $name values (${made.head})")
              model(name) = (model(name) ++ made).sorted
          }
        for ((table, expected) <- model)
          assert(ids(table) == expected.sorted, s"round $round: $table after ${said.mkString("; ")}")
      }
      for (table <- model.keys) spark.sql(s"drop table $table")
    }
  }
}
