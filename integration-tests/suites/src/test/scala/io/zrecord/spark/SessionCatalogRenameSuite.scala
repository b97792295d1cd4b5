package io.zrecord.spark

import java.io.File
import java.nio.file.Paths
import java.security.AccessControlException

import scala.collection.mutable
import scala.util.Random

import io.zrecord.testing.Budget
import org.apache.hadoop.fs.FileUtil
import org.apache.hadoop.security.authorize.AuthorizationException
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog, TableChange}
import org.apache.spark.sql.execution.datasources.v2.V2SessionCatalog

/** Names of tables that wander: whatever is renamed, altered, replaced and dropped, each table
  * keeps its own rows and its own files.
  */
class SessionCatalogRenameSuite extends SessionTablesSuite {
  private val seed = Budget.seed

  /** Spark 3 has no PURGE here. */
  private def purge: String = if (spark.version.startsWith("3.")) "" else " purge"

  test(
    "a table that is renamed and altered keeps its files beside a second table of the old name"
  ) {
    val (first, second) = (freshTable(), freshTable())
    spark.sql(s"create table $first using zrecord as select id from range(3)")
    spark.sql(s"alter table $first rename to $second")
    spark.sql(s"create table $first using zrecord as select id + 100 id from range(4)")
    spark.sql(s"comment on table $second is 'x'")
    assert(ids(second) == Seq(0, 1, 2))
    spark.sql(s"drop table $second")
    assert(ids(first) == Seq(100, 101, 102, 103))
  }

  /** Makes three rows, renames their table, and points the entry back as an earlier release did.
    *
    * @return
    *   the old name, the new name, and the directory of the old name
    */
  private def pointedBack(database: String = "default"): (String, String, String) = {
    val (first, second) = (s"$database.${freshTable()}", s"$database.${freshTable()}")
    spark.sql(
      s"create table $first using zrecord comment 'kept' as select id from range(0, 3, 1, 1)"
    )
    val old = locationOf(first)
    spark.sql(s"alter table $first rename to $second")
    pointAt(second, old)
    (first, second, old)
  }

  private def createAgain(table: String): Unit =
    spark.sql(s"create table $table using zrecord as select id + 100 id from range(0, 4, 1, 1)")

  private val hundreds = Seq[Long](100, 101, 102, 103)

  private val changes: Seq[(String, Seq[Long])] =
    Seq[(String, Seq[Long])](
      "" -> Seq(0, 1, 2),
      "comment on table % is 'x'" -> Seq(0, 1, 2),
      "alter table % set tblproperties (k = 'v')" -> Seq(0, 1, 2),
      "alter table % unset tblproperties if exists (k)" -> Seq(0, 1, 2),
      "alter table % alter column id comment 'x'" -> Seq(0, 1, 2),
      "alter table % rename to %_2" -> Seq(0, 1, 2),
      "insert into % values (3)" -> Seq(0, 1, 2, 3),
      "insert overwrite % values (7)" -> Seq(7),
      "create or replace table % using zrecord as select id + 50 id from range(2)" -> Seq(50, 51),
      "drop table %" -> Nil
    )

  for (
    (isOldNameTaken, database) <- Seq(true -> "default", false -> "other");
    (change, rows) <- chosen(changes)
  )
    test(
      "an entry that an earlier release pointed at " +
        (if (isOldNameTaken) "another table's files" else "its former directory") +
        s" in the database $database finds its own again: '$change' (seed $seed)"
    ) {
      spark.sql(s"create database if not exists $database")
      val (first, second, _) = pointedBack(database)
      if (isOldNameTaken) createAgain(first)
      if (change.nonEmpty) spark.sql(change.replace("%", second))
      val renamed = if (change.contains("rename")) second + "_2" else second
      if (rows.nonEmpty) {
        assert(ids(renamed) == rows)
        if (!change.contains("replace") && !change.contains("comment on"))
          assert(detail(renamed, "Comment") == Seq("kept"))
        spark.sql(s"drop table $renamed")
      }
      assert(!spark.catalog.tableExists(renamed))
      if (isOldNameTaken) {
        assert(ids(first) == hundreds)
        spark.sql(s"drop table $first")
      }
      // Nothing was left in the way of tables of these names.
      for (name <- Seq(first, renamed)) {
        createAgain(name)
        spark.sql(s"drop table $name")
      }
    }

  test("a metastore that alters nothing keeps an entry that points back from being dropped") {
    for (
      change <- Seq("drop table %", "alter table % rename to %_2", "comment on table % is 'x'")
    ) {
      val (first, second, _) = pointedBack()
      createAgain(first)
      val message =
        failure(RefusingMetastore.during(spark)(spark.sql(change.replace("%", second))))
      assert(message.contains("as somebody who may alter the table"), message)
      assert(ids(second) == Seq(0, 1, 2))
      assert(ids(first) == hundreds)
    }
  }

  test("a table whose entry points back asks once for the tables of its own database") {
    spark.sql("create database if not exists other")
    val (first, second, _) = pointedBack()
    createAgain(first)
    var asked = Seq.empty[AnyRef]
    RefusingMetastore.failing(
      spark,
      "getTablesByName",
      database => { asked :+= database; false }
    )(new IllegalStateException)(spark.table(second))
    assert(asked == Seq("default"))
    assert(ids(second) == Seq(0, 1, 2))
    spark.sql(s"drop table $second")
    assert(ids(first) == hundreds)
  }

  testLocally(
    "nothing is read, written or dropped while the places of other tables are not known"
  ) {
    val (first, second, old) = pointedBack()
    createAgain(first)
    for (
      statement <- Seq(
        "select * from %",
        "insert overwrite % select 7L",
        "drop table %",
        "alter table % rename to %_2",
        s"alter table % set location '$old'"
      )
    ) {
      val message = RefusingMetastore.during(spark, "getTablesByName") {
        failure(spark.sql(statement.replace("%", second)).collect())
      }
      assert(message.contains("which places other tables have"), s"$statement: $message")
      assert(ids(first) == hundreds)
      assert(ids(second) == Seq(0, 1, 2))
    }
    spark.sql(s"drop table $second")
    assert(ids(first) == hundreds)
  }

  /** What metastores and their plug-ins say to somebody who may not list the tables of a database.
    */
  private val denials: Seq[Throwable] = {
    val hive = new AuthorizationException("user [b] does not have [SELECT] privilege")
    Seq(
      new SecurityException("no"),
      new AccessControlException("no"),
      new org.apache.hadoop.security.AccessControlException("no"),
      hive,
      new RuntimeException("listing failed", hive),
      new RuntimeException("org.apache.hadoop.hive.ql.metadata.HiveException: Permission denied: b")
    )
  }

  private val otherFailures: Seq[Throwable] = Seq(
    new IllegalStateException("the metastore is away"),
    new RuntimeException("timed out", new java.net.SocketTimeoutException("Read timed out"))
  )

  testLocally(
    "a database that may not be looked into hides its tables, and one that does not answer does not"
  ) {
    val database = s"d_${freshTable()}"
    spark.sql(s"create database $database")
    spark.sql(s"create table $database.hidden using zrecord as select id from range(3)")
    val there = locationOf(s"$database.hidden")
    for (
      (refused, failures, isAllowed) <- Seq(
        (database, denials, true),
        (database, otherFailures, false),
        ("default", denials, false)
      );
      failure <- failures
    ) {
      val name = freshTable()
      val create = s"create table $name (id bigint) using zrecord location '${freshPath()}'"
      val message = RefusingMetastore.failing(spark, "getTablesByName", _ == refused)(failure) {
        if (isAllowed) { spark.sql(create); "" }
        else this.failure(spark.sql(create))
      }
      assert(isAllowed || message.contains("which places other tables have"), s"$failure: $message")
      assert(spark.catalog.tableExists(name) == isAllowed, failure)
    }
    val taken = s"create table ${freshTable()} (id bigint) using zrecord location '$there'"
    assert(failure(spark.sql(taken)).contains("where another table has its files"))
    spark.sql(s"drop database $database cascade")
  }

  testLocally("a place is taken whichever scheme of its storage, or port, a location names") {
    val settings = Seq("s3", "s3a", "hdfs").map(scheme => s"fs.$scheme.impl")
    settings.foreach(spark.conf.set(_, classOf[SchemesFileSystem].getName))
    spark.conf.set("zrecord.publish", "create")
    try
      for (
        (taken, other) <- Seq(
          s"s3a://b/${freshTable()}" -> "s3://b/",
          s"s3://b/${freshTable()}" -> "s3a://b/",
          s"hdfs://nn/${freshTable()}" -> "hdfs://nn:8020/",
          s"hdfs://nn:8020/${freshTable()}" -> "hdfs://NN/"
        )
      ) {
        val managed = freshTable()
        spark.sql(s"create table $managed (id bigint) using zrecord")
        spark.sql(s"create table zrecord.`$taken` (id bigint)")
        spark.sql(s"alter table $managed set location '$taken'")
        val place = other + taken.split('/').last
        val create = s"create table ${freshTable()} (id bigint) using zrecord location"
        for (there <- Seq(place, s"$place/below")) {
          val message = failure(spark.sql(s"$create '$there'"))
          assert(message.contains("where another table has its files"), s"$taken $there: $message")
        }
        spark.sql(s"$create '${place}x'")
      }
    finally (settings :+ "zrecord.publish").foreach(spark.conf.unset)
  }

  testLocally("files of another table are neither moved nor deleted where a table's own are gone") {
    for (
      change <- Seq("drop table %", "alter table % rename to %_2", "comment on table % is 'x'")
    ) {
      val (first, second, old) = pointedBack()
      createAgain(first)
      val home = s"${Paths.get(old).getParent}/${second.stripPrefix("default.")}"
      assert(ids(second) == Seq(0, 1, 2))
      FileUtil.fullyDelete(new File(home))
      val external = freshTable()
      spark.sql(s"create table $external using zrecord location '$home' as select id from range(9)")
      val message = failure(spark.sql(change.replace("%", second)))
      assert(message.contains("where the files of another table are"), message)
      spark.sql(s"alter table $second set location '${dataset(1)}'")
      spark.sql(s"drop table $second")
      assert(ids(first) == hundreds)
      assert(ids(external) == (0L until 9L))
    }
  }

  test("a managed table that was given another location stays there") {
    val (table, other) = (freshTable(), freshTable())
    val path = dataset(5)
    spark.sql(s"create table $table using zrecord as select id from range(3)")
    createAgain(other)
    val message =
      failure(spark.sql(s"alter table $table set location '${locationOf(other)}'"))
    assert(message.contains("where another table has its files"), message)
    spark.sql(s"alter table $table set location '$path'")
    spark.sql(s"comment on table $table is 'x'")
    assert(ids(table) == (0L until 5L))
    spark.sql(s"drop table $table")
    assert(ids(other) == hundreds)
  }

  test("an external table keeps its files whatever is renamed") {
    val (first, second, path) = (freshTable(), freshTable(), freshPath())
    spark.sql(s"create table $first using zrecord location '$path' as select id from range(3)")
    spark.sql(s"alter table $first rename to $second")
    createAgain(first)
    for (
      change <- Seq(
        s"comment on table $second is 'x'",
        s"alter table $second alter column id comment 'y'",
        s"create or replace table $second using zrecord as select id + 7 id from range(3)",
        s"drop table $second"
      )
    ) {
      spark.sql(change)
      assert(ids(first) == hundreds, change)
    }
    assert(read(path).count() == 3)
  }

  /** Does to an entry what a change did when the entry kept its location among its properties. */
  private def pointAt(table: String, location: String): Unit =
    new V2SessionCatalog(spark.sessionState.catalog).alterTable(
      Identifier.of(Array(table.takeWhile(_ != '.')), table.dropWhile(_ != '.').drop(1)),
      TableChange.setProperty(TableCatalog.PROP_LOCATION, location),
      TableChange.setProperty(TableCatalog.PROP_COMMENT, "kept")
    )

  test(s"any order of changes leaves every table its rows (seed $seed)") {
    val random = new Random(seed)
    for (round <- 0 until Budget.of(20)) {
      val names = Seq.fill(3)(freshTable())
      val model = mutable.Map.empty[String, Seq[Long]]
      val said = mutable.Buffer.empty[String]
      def say(statement: String): Unit = { said += statement; spark.sql(statement) }
      var next = 0L
      def rows(): Seq[Long] = { next += 10; Seq(next, next + 1) }
      for (step <- 1 to 12) {
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
          random.nextInt(8) match {
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
              say(s"drop table $name" + (if (random.nextBoolean()) "" else purge))
              model.remove(name)
            case 7 => say(s"alter table $name alter column id comment 'n ${random.nextInt(9)}'")
            case _ =>
              val made = rows().take(1)
              say(s"insert into $name values (${made.head})")
              model(name) = (model(name) ++ made).sorted
          }
        // Every table is read at the end of a round, and those of a statement after it.
        for ((table, expected) <- model if step == 12 || Seq(name, other).contains(table))
          assert(
            ids(table) == expected.sorted,
            s"round $round: $table after ${said.mkString("; ")}"
          )
      }
      for (table <- model.keys) spark.sql(s"drop table $table")
    }
  }
}
