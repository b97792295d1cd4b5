package io.zrecord.spark

import org.apache.spark.sql.{Row, SparkSession}

/** NULL for columns that are NOT NULL, in statements that change records. A session of PySpark has
  * no rules that check them before Spark 4, so the tasks do.
  */
class RequiredValuesSuite extends SparkSuite with PySparkSessions {
  private val places = Seq(
    "a table of a warehouse",
    "a partitioned table of a warehouse",
    "a table of the session's catalog",
    "a table of the session's catalog over records that may have NULL"
  )

  private val statements = Seq(
    "an UPDATE" -> "update T set id = null where label = 1",
    "an UPDATE of some records" -> "update T set id = if(label = 1, null, 7) where label < 3",
    "an UPDATE of all columns" -> "update T set id = null, label = 3, part = 5 where label = 1",
    "a MERGE that updates" ->
      """merge into T t using (select 1 label) s on s.label = t.label
        |when matched then update set id = null""".stripMargin,
    "a MERGE that updates and inserts" ->
      """merge into T t using (select explode(array(2, 9)) label) s on s.label = t.label
        |when matched then update set label = 20
        |when not matched then insert (id, label, part) values (null, 9, 1)""".stripMargin,
    "a MERGE that inserts" ->
      """merge into T t using (select 9 label) s on s.label = t.label
        |when not matched then insert (id, label, part) values (null, 9, 1)""".stripMargin,
    "an INSERT" -> "insert into T values (null, 9, 1)"
  )

  private def created(session: SparkSession, place: String): String = {
    session.conf.set("spark.sql.catalog.spark_catalog", classOf[ZRecordSessionCatalog].getName)
    val lake = "lake" + freshTable()
    session.conf.set(s"spark.sql.catalog.$lake", classOf[ZRecordCatalog].getName)
    session.conf.set(s"spark.sql.catalog.$lake.warehouse", freshPath())
    val columns = "(id bigint not null, label int, part int)"
    val name = place match {
      case "a table of a warehouse" =>
        session.sql(s"create table $lake.t $columns"); s"$lake.t"
      case "a partitioned table of a warehouse" =>
        session.sql(s"create table $lake.t $columns partitioned by (part)"); s"$lake.t"
      case other =>
        val path = freshPath()
        if (other.endsWith("NULL")) {
          write(spark.sql("select cast(null as bigint) id, 0 label, 0 part"), path, "append")
        }
        val table = freshTable()
        session.sql(s"create table $table $columns using zrecord location '$path'")
        table
    }
    session.sql(s"insert into $name values (1, 1, 1), (2, 2, 2)")
    name
  }

  private def rows(session: SparkSession, name: String): Set[Row] =
    session.sql(s"select * from $name").collect().toSet

  for (place <- places; isPySpark <- Seq(false, true))
    test(
      s"no statement writes NULL to $place where it is NOT NULL" +
        (if (isPySpark) ", in a session of PySpark" else "")
    ) {
      def checked(session: SparkSession): Unit = {
        val name = created(session, place)
        val before = rows(session, name)
        for ((what, statement) <- statements) {
          val message = failure(session.sql(statement.replaceFirst("\\bT\\b", name)).collect())
          assert(isRefusalOfNull(message, "id"), s"$what: $message")
          assert(rows(session, name) == before, what)
        }
      }
      if (isPySpark) inPySpark(checked) else checked(spark)
    }

  test("a record that has NULL already can get other values, in any session") {
    for (isPySpark <- Seq(false, true)) {
      def checked(session: SparkSession): Unit = {
        val name = created(session, places.last)
        session.sql(s"update $name set label = 10 where label = 0").collect()
        assert(rows(session, name) == Set(Row(null, 10, 0), Row(1L, 1, 1), Row(2L, 2, 2)))
      }
      if (isPySpark) inPySpark(checked) else checked(spark)
    }
  }
}
