package io.zrecord.spark

/** Sessions where `spark.testing` is set, as in tests of Spark itself: Spark then refuses some
  * calls that it takes otherwise.
  */
class SparkTestingSuite extends ChangedTables with RunsOnce {
  override protected def whyOnce: String = "nothing of it depends on the storage"

  private def whereTesting[T](action: => T): T = {
    val before = Option(System.setProperty("spark.testing", "true"))
    try action
    finally
      before.fold(System.clearProperty("spark.testing"))(System.setProperty("spark.testing", _))
  }

  test("partitions by texts are written, changed and read where spark.testing is set") {
    val name = s"lake.${freshTable()}"
    whereTesting {
      sql(s"create table $name (id bigint not null, part string) partitioned by (part)")
      sql(s"insert into $name values (1, 'b'), (2, 'a'), (3, null), (4, 'ä')")
      sql(s"update $name set id = 5 where part = 'a'")
      sql(s"merge into $name t using (select 1L id) s on s.id = t.id when matched then delete")
      assert(
        sql(s"select id from $name where part >= 'a' order by id").map(_.getLong(0)) == Seq(4, 5)
      )
      assert(isRefusalOfNull(failure(sql(s"update $name set id = null where id = 4")), "id"))
      assert(sql(s"select count(*) from $name").head.getLong(0) == 3)
    }
  }

  test("changes are read by options in SQL where spark.testing is set") {
    assume(hasOptionsInSql)
    val name = s"lake.${freshTable()}"
    whereTesting {
      sql(s"create table $name (id bigint)")
      sql(s"insert into $name values (1), (2)")
      assert(sql(s"select _change_type, id from $name with ('changesFrom' = '0')").size == 2)
    }
  }
}
