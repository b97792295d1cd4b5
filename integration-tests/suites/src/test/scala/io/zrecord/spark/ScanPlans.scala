package io.zrecord.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec

/** Shows how a query uses the source. */
object ScanPlans {

  /** Returns the only scan of a query. */
  def only(query: DataFrame): BatchScanExec = {
    def scans(plan: SparkPlan): Seq[BatchScanExec] = plan match {
      case scan: BatchScanExec => Seq(scan)
      case adaptive: AdaptiveSparkPlanExec => scans(adaptive.executedPlan)
      case stage: QueryStageExec => scans(stage.plan)
      case other => other.children.flatMap(scans)
    }
    val found = scans(query.queryExecution.executedPlan)
    assert(found.size == 1)
    found.head
  }

  /** Returns the metrics of the scan, after it has run. */
  def metrics(query: DataFrame): Map[String, Long] =
    only(query).metrics.map { case (name, metric) => name -> metric.value }
}
