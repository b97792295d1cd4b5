package io.zrecord.spark

import org.apache.spark.sql.{Row, SparkSession}

/** Tables of the session's catalog whose declaration says NOT NULL of a column of which records
  * have NULL: written by path, or before the declaration. Spark believes what a table says, so
  * nothing may tell it that such a column has no NULL.
  */
class DeclaredNullsSuite extends SparkSuite with PySparkSessions {
  private val statements = Seq(
    "update T set label = 100 where id is null",
    "update T set label = 100 where not (id > 1)",
    "update T set id = if(label = 1, 5, id)",
    "update T set label = coalesce(id, 77)",
    "update T set id = 8 where id is null",
    "update T set part = 7 where label = 0",
    "update T set part = part + 1, id = if(label = 1, 5, id)",
    "delete from T where id is null",
    "delete from T where id is not null",
    "delete from T where not (id <=> 1)",
    "delete from T where id is null and part in (select 0)",
    "delete from T where label not in (select id from T)",
    """merge into T t using (select cast(null as bigint) id, 50 label) s on s.id <=> t.id
      |when matched then update set label = s.label""".stripMargin,
    """merge into T t using (select 1 one) s on t.id is null
      |when matched then delete
      |when not matched then insert (id, label, part) values (9, 9, 9)""".stripMargin,
    """merge into T t using (select 1 one) s on t.id is null
      |when not matched then insert (id, label, part) values (9, 9, 9)""".stripMargin,
    """merge into T t using (select 3 label) s on s.label = t.label
      |when matched then update set label = 4
      |when not matched by source and t.id is null then delete""".stripMargin,
    """merge into T t using (select explode(array(0, 9)) label) s on s.label = t.label
      |when matched then update set part = 9
      |when not matched then insert (id, label, part) values (10, 9, 9)""".stripMargin,
    "insert into T select coalesce(id, 50), label + 10, part from T",
    "insert into T select 60, label + 10, part from T where id is null",
    "insert overwrite T select coalesce(id, 50), label, part from T"
  )

  private val refused = Seq(
    "update T set id = null where label = 1",
    "update T set id = null, part = 5 where label = 1",
    "update T set id = if(label = 2, null, id), part = 6",
    "insert into T (label, part) values (5, 5)",
    "insert into T select null, label, part from T where label = 1"
  )

  private def rows(session: SparkSession, name: String): Seq[Row] =
    session.sql(s"select id, label, part from $name order by label, id, part").collect().toSeq

  /** Some releases say themselves that a column is left out. */
  private def isRefusal(message: String): Boolean =
    isRefusalOfNull(message, "id") || message.contains(
      "Cannot find data for the output column `id`"
    )

  /** Makes a table of four records, of which two have NULL. */
  private def written(isPartitioned: Boolean): String = {
    val path = freshPath()
    val records = "values (cast(null as bigint), 0, 0), (1L, 1, 1), (2L, 2, 0), (null, 3, 1)"
    val writer = spark.sql(s"select * from $records as t(id, label, part)").write.format("zrecord")
    (if (isPartitioned) writer.partitionBy("part") else writer).save(path)
    path
  }

  private def declared(session: SparkSession, isPartitioned: Boolean): String = {
    session.conf.set("spark.sql.catalog.spark_catalog", classOf[ZRecordSessionCatalog].getName)
    val name = freshTable()
    session.sql(
      s"create table $name (id bigint not null, label int, part int) using zrecord" +
        (if (isPartitioned) " partitioned by (part)" else "") +
        s" location '${written(isPartitioned)}'"
    )
    name
  }

  private def in(statement: String, table: String): String =
    statement.replaceAll("\\bT\\b", table)

  private def withSession(isPySpark: Boolean)(test: SparkSession => Unit): Unit =
    if (isPySpark) inPySpark(test) else test(spark)

  for (isPartitioned <- Seq(false, true); isPySpark <- Seq(false, true)) {
    val where = (if (isPartitioned) "in a partitioned table" else "in a table") +
      (if (isPySpark) ", in a session of PySpark" else "")

    test(s"statements find records with NULL where only a declaration says NOT NULL, $where") {
      withSession(isPySpark) { session =>
        for (statement <- statements) withClue(statement) {
          val name = declared(session, isPartitioned)
          val plain = s"zrecord.`${written(isPartitioned)}`"
          spark.sql(in(statement, plain)).collect()
          session.sql(in(statement, name)).collect()
          assert(rows(session, name) == rows(spark, plain))
        }
      }
    }

    test(s"no statement adds a NULL where only a declaration says NOT NULL, $where") {
      withSession(isPySpark) { session =>
        val name = declared(session, isPartitioned)
        val before = rows(session, name)
        for (statement <- refused) withClue(statement) {
          val message = failure(session.sql(in(statement, name)).collect())
          assert(isRefusal(message), message)
          assert(rows(session, name) == before)
        }
      }
    }
  }

  test("a write that leaves out a column that is declared NOT NULL is refused before its tasks") {
    val name = declared(spark, isPartitioned = false)
    for (
      statement <- Seq(
        s"insert into $name (label, part) values (5, 5)",
        s"insert into $name (part, label) select part, label from $name",
        s"insert overwrite $name (label, part) select label, part from $name"
      )
    ) {
      val message = failure(spark.sql(statement))
      assert(isRefusal(message) && !message.contains("Task"), message)
    }
  }
}
