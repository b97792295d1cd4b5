package io.zrecord.spark

import org.apache.spark.sql.Row

/** CALL of the procedures of a catalog, where Spark has the statement. */
class ProceduresSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private val calls = !spark.version.startsWith("3.")

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** Registers a test of the statement, which Spark 3.5 lacks. */
  private def testCall(name: String)(body: => Any): Unit =
    test(name) {
      assume(calls, "CALL is new in Spark 4.0")
      body
    }

  private class Table(namespaced: Boolean = false) {
    private val table = freshTable()
    val name: String = if (namespaced) s"ns.$table" else table
    val path = s"$warehouse/${name.replace('.', '/')}"
    if (namespaced) sql("create namespace if not exists lake.ns")
    sql(s"create table lake.$name (id bigint, label int) using zrecord")
    for (part <- 0 until 4)
      sql(
        s"insert into lake.$name select /*+ coalesce(1) */ id, cast(id % 7 as int)" +
          s" from range(${part * 50}, ${part * 50 + 50}, 1, 1)"
      )

    def call(procedure: String, arguments: String = ""): Seq[Row] =
      sql(s"call lake.system.$procedure('$name'${if (arguments.isEmpty) "" else s", $arguments"})")

    /** Names the table by its path, because its newest version may be damaged. */
    def pathCall(procedure: String, arguments: String = ""): Seq[Row] =
      sql(s"call lake.system.$procedure('$path'${if (arguments.isEmpty) "" else s", $arguments"})")

    def version: Long = tableAt(path).latest().version()
    def ids: Seq[Long] = sql(s"select id from lake.$name order by _index").map(_.getLong(0))
  }

  testCall("a table is named by its name, with the catalog or without, by a path and in quotes") {
    val table = new Table(namespaced = true)
    for (
      (catalog, argument) <- Seq(
        "lake" -> table.name,
        "lake" -> s"lake.${table.name}",
        "LAKE".toLowerCase -> s"`ns`.`${table.name.stripPrefix("ns.")}`",
        "lake" -> table.path,
        "lake" -> s"zrecord.`${table.path}`",
        "zrecord" -> table.path
      )
    ) withClue(s"$catalog $argument") {
      val found = sql(s"call $catalog.system.changes('$argument')")
      assert(found.map(row => (row.getLong(0), row.getLong(3))) == Seq((4L, 50L)))
    }
    val short = table.name.stripPrefix("ns.")
    sql(s"create table lake.$short (id bigint) using zrecord")
    sql("use lake")
    try {
      assert(sql(s"call system.changes(table => '${table.name}')").head.getLong(0) == 4)
      assert(sql(s"call system.changes('$short')").head.getLong(0) == 0)
      sql("use lake.ns")
      assert(sql(s"call system.changes('$short')").head.getLong(0) == 4)
    } finally sql("use spark_catalog")
  }

  testCall("a rebalance joins shards, and says what it would do before") {
    val table = new Table
    val before = table.ids
    val planned = table.call("rebalance", "dry_run => true").head
    assert(planned.getBoolean(0) && planned.getInt(1) == 1 && planned.getLong(2) == 200)
    assert(planned.getInt(3) == 4 && planned.isNullAt(4))
    assert(table.version == 4)
    val done = table.call("rebalance").head
    assert(!done.getBoolean(0) && done.getInt(3) == 4 && done.getInt(4) == 1)
    assert(done.getSeq[String](8).isEmpty)
    assert(tableAt(table.path).latest().shards().size() == 1)
    assert(table.ids == before)
    val again = table
      .call("rebalance", "all_shards => true, compression => map('id', 'zstd:3'), concurrency => 2")
      .head
    assert(again.getInt(1) == 1)
    assert(
      tableAt(table.path)
        .latest()
        .schema()
        .find("id")
        .get()
        .compression()
        .toString
        .contains("zstd")
    )
  }

  testCall("a relayout writes another order") {
    val table = new Table
    assert(failure(table.call("relayout")).contains("order_by"))
    assert(failure(table.call("relayout", "descending => true, shuffle_seed => 1")) != null)
    val sorted = table.call("relayout", "order_by => 'id', descending => true").head
    assert(sorted.getLong(0) == table.version && sorted.getLong(1) == 200)
    assert(table.ids == (0L until 200).reverse)
    table.call("relayout", "shuffle_seed => 42")
    assert(table.ids != (0L until 200).reverse && table.ids.sorted == (0L until 200))
    val refused = failure(table.call("relayout", "order_by => 'nothing'"))
    assert(refused.contains("nothing"), refused)
  }

  testCall("versions are named, expire, and their files are swept") {
    val table = new Table
    assert(table.call("tag", "name => 'first', version => 1") == Seq(Row("first", 1L)))
    assert(table.call("tag", "'last'") == Seq(Row("last", 5L)))
    assert(sql(s"select count(*) from lake.${table.name} version as of 'first'") == Seq(Row(50L)))
    assert(table.call("untag", "'last'") == Seq(Row("last", 5L)))
    assert(failure(table.call("untag", "'last'")).contains("last"))
    val expired = table.call("expire").head
    assert(!expired.getBoolean(0) && expired.getSeq[Long](1).isEmpty && expired.getInt(2) == 8)
    val refused = failure(table.call("expire", "older_than => '1m'"))
    assert(refused.contains("PT1H"), refused)
    val swept = table.call("sweep", "dry_run => false, older_than => '2h'").head
    assert(!swept.getBoolean(0) && swept.getLong(1) == 0)
    assert(table.call("sweep").head.getBoolean(0))
  }

  testCall("changes count what versions did") {
    val table = new Table
    sql(s"update lake.${table.name} set label = 9 where id < 3")
    sql(s"delete from lake.${table.name} where id = 7")
    table.call("rebalance", "all_shards => true")
    val found = table.call("changes", s"from_version => 3, to_version => ${table.version}")
    assert(
      found
        .map(row =>
          (
            row.getLong(0),
            row.getLong(3),
            row.getLong(4),
            row.getLong(5),
            row.getMap[String, Long](7)
          )
        )
        .take(3) == Seq(
        (4L, 50L, 0L, 0L, Map.empty),
        (5L, 0L, 0L, 3L, Map("label" -> 3L)),
        (6L, 0L, 1L, 0L, Map.empty)
      )
    )
    assert(found.drop(3).forall(row => row.getLong(3) + row.getLong(4) + row.getLong(5) == 0))
    assert(failure(table.call("changes", "to_version => 99")).contains("99"))
  }

  testCall("verify checks all values") {
    val table = new Table
    val sound = table.call("verify").head
    assert(sound.getBoolean(0) && sound.getLong(1) == 0 && sound.getLong(4) == 200)
    assert(sound.getSeq[String](7).isEmpty)
    assert(table.call("verify", "all_versions => true").head.getBoolean(0))
    if (TestBase.isLocal) {
      val files = filesOf(table.path)
      val chunk = files.names.filter(_.endsWith(".zr")).toSeq.sorted.head
      files.change(chunk) { bytes =>
        bytes(bytes.length - 1) = (bytes(bytes.length - 1) ^ 1).toByte
        bytes
      }
      val damaged = table.call("verify").head
      assert(!damaged.getBoolean(0) && damaged.getLong(1) > 0)
      assert(damaged.getSeq[String](7).nonEmpty)
    }
  }

  testCall("a repair is only told of") {
    val table = new Table
    assert(table.call("repair").isEmpty)
    if (TestBase.isLocal) {
      val files = filesOf(table.path)
      val newest =
        files.names.filter(name => name.startsWith("manifest/") && !name.endsWith("latest")).max
      files.change(newest)(bytes => bytes.take(bytes.length / 2))
      val told = table.pathCall("repair")
      assert(told.exists(_.getString(1).contains("version 4")), told)
      assert(table.pathCall("repair") == told)
    }
    assert(failure(table.pathCall("repair", "dry_run => false")).contains("bin/zrecord repair"))
  }

  testCall("what is wrong with a call is said") {
    val table = new Table
    for (
      (call, words) <- Seq(
        "lake.system.compact('t')" -> Seq("compact", "system.rebalance"),
        s"lake.system.expire()" -> Seq("table"),
        s"lake.system.expire('${table.name}', nothing => 1)" -> Seq("nothing"),
        s"lake.system.sweep('${table.name}', older_than => 'soon')" -> Seq("soon", "older_than"),
        "lake.system.expire('no_such_table')" -> Seq("no_such_table", "lake"),
        "lake.system.expire('a b')" -> Seq("a b"),
        s"lake.system.expire('${table.name}', keep_versions => null)" -> Seq("keep_versions"),
        s"lake.system.expire('${table.name}', keep_versions => 0)" -> Seq("0"),
        s"lake.system.rebalance('${table.name}', min_utilization => 7)" -> Seq("7"),
        s"lake.system.rebalance('${table.name}', compression => map('id', 'gold'))" -> Seq("gold"),
        s"lake.system.verify('${table.name}', version => 1, all_versions => true)" ->
          Seq("all_versions"),
        s"lake.system.tag('${table.name}', '17')" -> Seq("17")
      )
    ) withClue(call) {
      val refused = failure(sql(s"call $call"))
      for (word <- words) assert(refused.contains(word), refused)
      assert(!refused.contains("INTERNAL_ERROR"), refused)
    }
    assert(table.version == 4)
    sql(s"explain call lake.system.rebalance('${table.name}')")
    assert(table.version == 4, "EXPLAIN ran the procedure")
  }

  testCall("procedures of other catalogs are not ours") {
    val refused = failure(sql("call spark_catalog.system.rebalance('x')"))
    assert(!refused.contains("system.relayout"), refused)
  }

  testCall("a table is rolled back to a version or a tag, and a held table reads what is new") {
    val table = new Table
    val before = table.ids
    val version = table.version
    table.call("tag", s"'sound', $version")
    sql(s"delete from lake.${table.name} where id % 2 = 0")
    sql(s"alter table lake.${table.name} add column note string")
    val changed = table.version
    assert(
      table.call("rollback_to", "tag => 'sound'") == Seq(Row(changed + 1, version, before.size))
    )
    assert(table.ids == before)
    assert(spark.table(s"lake.${table.name}").columns.toSeq == Seq("id", "label"))
    assert(table.call("rollback_to", s"$changed") == Seq(Row(changed + 2, changed, 100)))
    assert(table.ids == before.filter(_ % 2 == 1))
    for (arguments <- Seq("", "1, 'sound'", "99", "tag => 'none'")) {
      val message = failure(table.call("rollback_to", arguments))
      assert(
        Seq("Give either", "the versions are", "There is no tag").exists(message.contains),
        message
      )
    }
    assert(table.version == changed + 2)
  }

  test("SHOW PROCEDURES lists those of a catalog, and DESCRIBE PROCEDURE says what one takes") {
    assume(spark.version >= "4.2", "earlier releases do not list those of zrecord")
    val names = Seq(
      "rebalance",
      "relayout",
      "expire",
      "sweep",
      "tag",
      "untag",
      "rollback_to",
      "changes",
      "verify",
      "repair"
    )
    sql("create namespace if not exists lake.shown")
    for (
      (catalog, namespace) <- Seq(
        ("lake", "lake"),
        ("lake", "lake.system"),
        ("lake", "lake.SYSTEM"),
        ("zrecord", "zrecord.system"),
        ("spark_catalog", "spark_catalog.system")
      )
    ) withClue(namespace) {
      assert(
        sql(s"show procedures in $namespace") ==
          names.map(name => Row(catalog, Seq("system"), "system", name))
      )
    }
    assert(sql("show procedures in lake.shown").isEmpty)
    for (name <- names; catalog <- Seq("lake", "zrecord")) withClue(name) {
      val described =
        sql(s"describe procedure $catalog.system.$name").map(_.getString(0)).mkString("\n")
      assert(described.contains(name), described)
      if (spark.version >= "4.2") {
        assert(described.contains("Parameters:"), described)
        assert(described.contains("IN table"), described)
      }
    }
    val missing = failure(sql("describe procedure lake.system.nothing"))
    assert(missing.contains("no procedure 'nothing'") && missing.contains("system.repair"), missing)
  }
}
