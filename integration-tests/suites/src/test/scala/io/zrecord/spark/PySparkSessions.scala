package io.zrecord.spark

import java.util.{HashMap => JHashMap}

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSession

/** Sessions that are made as PySpark makes them, by the constructor. Before Spark 4 they have no
  * extensions unless `spark.sql.extensions` names them.
  */
trait PySparkSessions { this: SparkSuite =>
  protected def inPySpark[T](test: SparkSession => T): T = {
    val session = spark.getClass
      .getConstructor(classOf[SparkContext], classOf[JHashMap[String, String]])
      .newInstance(spark.sparkContext, new JHashMap[String, String])
      .asInstanceOf[SparkSession]
    within(session)(test(session))
  }

  /** Makes a session that of the thread. */
  protected def within[T](session: SparkSession)(action: => T): T = {
    SparkSession.setActiveSession(session)
    SparkSession.setDefaultSession(session)
    try action
    finally {
      SparkSession.setActiveSession(spark)
      SparkSession.setDefaultSession(spark)
    }
  }
}
