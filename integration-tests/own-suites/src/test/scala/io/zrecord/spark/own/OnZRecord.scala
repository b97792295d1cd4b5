package io.zrecord.spark.own

import io.zrecord.spark.ZRecordSessionExtensions
import org.apache.spark.SparkConf
import org.apache.spark.sql.test.SharedSparkSession
import org.scalactic.source.Position
import org.scalatest.Tag

/** Runs the tests of a suite of Spark, whose tables zrecord keeps, but for those that are left out.
  */
trait OnZRecord extends SharedSparkSession {

  /** Catalogs that the suite has in memory. */
  protected def catalogs: Seq[String]

  override def sparkConf: SparkConf =
    catalogs.foldLeft(
      // Sessions of tests find no extensions by themselves.
      super.sparkConf.set("spark.sql.extensions", classOf[ZRecordSessionExtensions].getName)
    )((conf, name) => conf.set(s"spark.sql.catalog.$name", Own.catalog.getName))

  override def test(name: String, tags: Tag*)(body: => Any)(implicit position: Position): Unit =
    if (LeftOut.has(getClass.getSimpleName, name)) {
      ignore(name, tags: _*)(body)
    } else {
      super.test(name, tags: _*) {
        catalogs.foreach(catalog =>
          spark.conf.set(s"spark.sql.catalog.$catalog", Own.catalog.getName)
        )
        body
      }
    }
}
