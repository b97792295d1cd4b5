package io.zrecord.spark

import org.scalatest.{Args, Status, SucceededStatus}

/** A suite that runs with its own storage only. Every other suite runs again with its tables on
  * HDFS and on S3.
  */
trait RunsOnce extends SparkSuite {

  /** Says why, such as that the suite cuts local files. */
  protected def whyOnce: String

  override def run(testName: Option[String], args: Args): Status =
    if (TestBase.isLocal) super.run(testName, args)
    else {
      println(s"$suiteName runs with its own storage only: $whyOnce")
      SucceededStatus
    }
}
