package io.zrecord.spark
package alone

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.expressions.UserDefinedFunction

/** UPDATE and MERGE where tasks fail and executors die. */
trait RowChangesOnACluster extends SparkSuite {

  private def changed(path: String, function: UserDefinedFunction): Unit = {
    write(
      spark.range(0, 1000, 1, 8).selectExpr("id", "cast(id % 10 as int) label"),
      path,
      "append"
    )
    spark.udf.register("unlucky", function)
    spark.sql(s"update zrecord.`$path` set label = cast(unlucky(id) as int) + 1 where id % 2 = 0")
    val updated = (0L until 1000).map(id => (id, if (id % 2 == 0) id + 1 else id % 10))
    assert(found(path) == updated)
    val before = tableAt(path).latest().version()
    spark.sql(s"""merge into zrecord.`$path` t using (select id from range(500, 1500, 1, 4)) c
         | on t.id = c.id when matched and t.id % 3 = 0 then delete
         | when matched then update set label = cast(unlucky(t.id) as int)
         | when not matched then insert (id, label)
         |   values (c.id, cast(unlucky(c.id) as int))""".stripMargin)
    assert(tableAt(path).latest().version() == before + 1)
    val merged = updated.filterNot { case (id, _) => id >= 500 && id % 3 == 0 }.map {
      case (id, _) if id >= 500 => (id, id)
      case other => other
    } ++ (1000L until 1500).map(id => (id, id))
    assert(found(path) == merged)
    assert(Verify.of(spark, path).allVersions().run().isSound)
  }

  private def found(path: String): Seq[(Long, Long)] =
    read(path).orderBy("id").collect().map(row => (row.getLong(0), row.getInt(1).toLong)).toSeq

  test("changes of tasks that fail are made again and count once") {
    changed(freshPath(), ClusterSuite.failFirstAttempts)
  }

  test("changes of tasks that fail after their files were closed count once") {
    changed(freshPath(), ClusterSuite.failFirstAttemptsAfterTheirCommit)
  }

  test("an executor that dies while records are changed loses nothing") {
    val marker = Paths.get(freshPath())
    Files.createDirectories(marker.getParent)
    changed(freshPath(), ClusterSuite.dieOnce(marker.toString))
    assert(Files.exists(marker))
  }
}
