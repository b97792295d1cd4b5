package io.zrecord.spark

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import io.zrecord.spark.rules.ColumnsOfRowChanges
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.{QueryExecution, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.util.QueryExecutionListener

/** A statement that reads or writes more than it assigns says so, in its plan and its version. */
class FallbacksToldSuite extends SessionTablesSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = super.configuration ++ Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  private val columns = "(id bigint, label int, text string, part string, image binary not null)"
  private val rows = "select id, cast(id % 10 as int), concat('t', id), concat('p', id % 3)," +
    " cast(repeat('z', 100) as binary) from range(0, 20, 1, 2)"

  private def made(name: String, clauses: String = ""): String = {
    sql(s"create table $name $columns using zrecord $clauses")
    sql(s"insert into $name $rows")
    name
  }

  private def plain(): String = made(s"lake.${freshTable()}")
  private def partitioned(): String = made(s"lake.${freshTable()}", "partitioned by (part)")

  private def checked(checks: String*): String = {
    val name = plain()
    for ((check, i) <- checks.zipWithIndex)
      sql(s"alter table $name add constraint c$i check ($check)")
    name
  }

  private def ordered(): String = {
    val name = plain()
    sql(s"alter table $name set tblproperties ('write.order' = 'label')")
    name
  }

  /** A table of the session's catalog, whose text Spark pads. */
  private def padded(): String = {
    val name = freshTable()
    sql(s"create table $name (id bigint, label int, text char(9), image binary) using zrecord")
    sql(s"insert into $name select id, 1, 't', cast('z' as binary) from range(20)")
    name
  }

  private val excluded = "spark.sql.optimizer.excludedRules"
  private val withoutRule = excluded -> classOf[ColumnsOfRowChanges].getName
  private val withOtherPlan =
    excluded -> "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates"
  private val source = "(select id, 7 n from (select explode(array(3L, 5L, 50L)) as id))"
  private val merge = s"merge into T t using $source c on t.id = c.id"

  /** A statement, and what is told of it.
    *
    * @param read
    *   the columns that its version says it has read
    * @param written
    *   those of which updated records got values
    * @param reasons
    *   parts of the fallbacks, one for each; none if there is no fallback
    */
  private case class Case(
      table: () => String,
      statement: String,
      read: String,
      written: String,
      reasons: Seq[String] = Nil,
      settings: Seq[(String, String)] = Nil
  )

  private val all = "id, label, text, part, image"

  private val without = Seq(
    Case(() => plain(), "update T set label = label + 1 where id < 5", "id, label", "label"),
    Case(() => plain(), "update T set text = 'x'", "", "text"),
    Case(() => padded(), "update T set label = 5 where id = 3", "id", "label"),
    Case(() => partitioned(), "update T set label = 5 where part = 'p1'", "", "label"),
    Case(() => ordered(), "update T set label = 5 where id = 3", "id", "label"),
    Case(() => plain(), s"$merge when matched then update set label = n", "id", "label"),
    Case(
      () => plain(),
      s"""$merge when matched then update set label = n when not matched then insert
         | (id, label, image) values (c.id, n, cast('new' as binary))""".stripMargin,
      "id",
      "label"
    ),
    Case(
      () => plain(),
      s"$merge when matched and c.id = 3 then update set label = n" +
        " when matched then update set label = 8",
      "id",
      "label"
    ),
    Case(() => plain(), "delete from T where label = 3", "label", ""),
    Case(() => plain(), "delete from T where label = 3", "label", "", Nil, Seq(withoutRule))
  )

  private val noRule = "without the rule ColumnsOfRowChanges"

  private val fallbacks = Seq(
    Case(
      () => plain(),
      "update T set label = label + 1 where id < 5",
      all,
      "label",
      Seq(noRule),
      Seq(withoutRule)
    ),
    Case(
      () => plain(),
      s"$merge when matched then update set label = n",
      "id, text, part, image",
      "label",
      Seq(noRule),
      Seq(withoutRule)
    ),
    Case(
      () => partitioned(),
      "update T set part = 'p9', label = 4 where id in (3, 5)",
      "id, text, image",
      "",
      Seq("other values of the partition columns [part]")
    ),
    Case(
      () => partitioned(),
      s"$merge when matched then update set part = concat('p', n - 7), label = n",
      "id, text, image",
      "label",
      Seq("other values of the partition columns [part]")
    ),
    Case(
      () => plain(),
      s"$merge when matched and c.id = 3 then update set label = n" +
        " when matched then update set text = 'm'",
      "id, label, text",
      "label, text",
      Seq("the columns [label, text] are written of every updated record")
    ),
    Case(
      () => plain(),
      "insert into T replace where label = 3 select id, 3, 'r', 'p0', image from T where id = 1",
      "label",
      "",
      Seq("partitions do not decide")
    ),
    Case(
      () => ordered(),
      s"""$merge when not matched then insert (id, label, image)
         | values (c.id, n, cast('new' as binary))
         | when not matched by source and t.id = 9 then update set label = 1""".stripMargin,
      "id",
      "label",
      Seq("are not sorted by the order")
    )
  )

  // Spark evaluates checks from 4.1 on.
  private val ofChecks = Seq(
    Case(
      () => checked("label < 100"),
      "update T set label = label + 1 where id = 3",
      "id, label",
      "label"
    ),
    Case(
      () => checked("label < 100", "length(text) < 9"),
      "update T set label = label + 1 where id = 3",
      "id, label, text",
      "label",
      Seq("the columns [text] are read, because checks")
    ),
    Case(
      () => checked("length(image) + label > 0"),
      s"$merge when matched then update set label = n",
      "id, image",
      "label",
      Seq("the columns [image] are read, because checks")
    ),
    Case(
      () => checked("label < 100"),
      "update T set label = label + 1 where id = 3",
      all,
      "label",
      Seq("does not know the plan"),
      Seq(withOtherPlan)
    )
  )

  private def ofVersion(table: String): Map[String, String] =
    sql(s"select properties from $table.versions order by version desc limit 1").head
      .getMap[String, String](0)
      .toMap

  private def versionsOf(table: String): String =
    if (table.contains('.')) table else s"default.$table"

  for (told <- without ++ fallbacks ++ ofChecks)
    test(
      s"${if (told.reasons.isEmpty) "nothing" else told.reasons.mkString(", ")} is told of: " +
        told.statement.replace("\n", "") + told.settings.map(" with " + _._2).mkString +
        (if (ofChecks.contains(told)) s" and checks ${ofChecks.indexOf(told)}" else "") +
        s" (${without.indexOf(told) + 1})"
    ) {
      if (loadsAgain || !ofChecks.contains(told)) {
        val table = told.table()
        val statement = told.statement.replace("T", table)
        val plan = setting(told.settings: _*)(sql(s"explain $statement").head.getString(0))
        val line = plan.split('\n').find(_.contains("Fallbacks: [")).getOrElse(fail(plan))
        if (told.reasons.isEmpty) assert(line.contains("Fallbacks: []"), plan)
        told.reasons.foreach(reason => assert(line.contains(reason), plan))
        setting(told.settings: _*)(sql(statement))
        val properties = ofVersion(versionsOf(table))
        assert(properties.get("columnsRead").getOrElse("") == told.read, properties)
        assert(properties.get("columnsWritten").getOrElse("") == told.written, properties)
        val found = properties.get("fallbacks").toSeq.flatMap(_.split("; "))
        assert(found.size == told.reasons.size, properties)
        found.zip(told.reasons).foreach { case (text, reason) => assert(text.contains(reason)) }
      }
    }

  /** Runs a statement, and returns the metrics of its write. */
  private def metricsOf(statement: String): Map[String, Long] = {
    val ran = new ConcurrentLinkedQueue[QueryExecution]()
    val listener = new QueryExecutionListener {
      override def onSuccess(name: String, query: QueryExecution, nanos: Long): Unit =
        ran.add(query)
      override def onFailure(name: String, query: QueryExecution, failed: Exception): Unit = ()
    }
    def nodes(plan: SparkPlan): Seq[SparkPlan] = plan match {
      case adaptive: AdaptiveSparkPlanExec => nodes(adaptive.executedPlan)
      case other => other +: other.children.flatMap(nodes)
    }
    def found: Option[Map[String, Long]] = ran.asScala
      .flatMap(query => nodes(query.executedPlan))
      .map(_.metrics)
      .find(_.contains("columnsWritten"))
      .map(_.map { case (name, metric) => name -> metric.value })
    spark.listenerManager.register(listener)
    try {
      sql(statement)
      assert(eventually(found.isDefined))
      found.get
    } finally spark.listenerManager.unregister(listener)
  }

  test("metrics say how many columns and bytes are written, also of what is not assigned") {
    val label = "update T set label = label + 1 where id < 5"
    val narrow = metricsOf(label.replace("T", plain()))
    assert(narrow("columnsWritten") == 1)
    assert(narrow("bytesUpdated") == 5 * 4)
    assert(narrow("bytesUnassigned") == 0 && narrow("valuesCompared") == 0)
    val compared = setting(withoutRule)(metricsOf(label.replace("T", plain())))
    assert(compared("columnsWritten") == 1)
    assert(compared("bytesUpdated") == 5 * 4)
    assert(compared("bytesUnassigned") == 0 && compared("valuesCompared") == 5 * 5)
    val moved = metricsOf(s"update ${partitioned()} set part = 'p9' where id < 2")
    assert(moved("recordsMoved") == 2)
    assert(moved("columnsWritten") == 0 && moved("bytesUpdated") == 0)
    // The image, the id, the label and the text.
    assert(moved("bytesUnassigned") == 2 * (100 + 8 + 4 + 2))
    val partly = metricsOf(
      s"$merge when matched and c.id = 3 then update set label = n" +
        " when matched then update set image = cast('m' as binary)" replace ("T", plain())
    )
    assert(partly("columnsWritten") == 2)
    assert(partly("bytesUpdated") == 4 + 100 + 4 + 1)
    assert(partly("bytesUnassigned") == partly("bytesUpdated"))
  }

  test("a scan says which conditions it cannot use") {
    def told(where: String, options: (String, String)*): String =
      ScanPlans
        .only(spark.read.options(options.toMap).table(partitionedOnce).where(where))
        .scan
        .description()
    for (used <- Seq("label = 3", "_index < 5 and label > 3", "_shard = 0 and text like 't%'"))
      assert(!told(used).contains("NotPushed"), used)
    val both = told("length(text) > 2 and label = 3")
    val notPushed = both.substring(both.indexOf("NotPushed: ["))
    assert(notPushed.contains("LENGTH(text)") && !notPushed.contains("label"), both)
    assert(told("label = 3", "statistics" -> "false").contains("NotPushed: ["))
    // Spark 4.2 asks again whether partitions decide what the table did not know.
    val ofPartition = told("upper(part) = 'P1'")
    assert(ofPartition.contains("NotPushed") == spark.version < "4.2", ofPartition)
  }

  private lazy val partitionedOnce = partitioned()

  test("a deletion that needs no job has no fallback") {
    val table = plain()
    sql(s"delete from $table where _shard = 0")
    assert(!ofVersion(table).contains("fallbacks") && !ofVersion(table).contains("columnsRead"))
  }
}
