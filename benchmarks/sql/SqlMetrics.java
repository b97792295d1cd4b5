package io.zrecord.benchmarks;

import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;

/** What plans of Spark have counted. */
final class SqlMetrics {
  private SqlMetrics() {}

  /** Returns how many bytes the scans of zrecord in a plan that ran have read. */
  static long bytesRead(SparkPlan plan) {
    if (plan instanceof BatchScanExec scan) {
      return scan.metrics().apply("bytesRead").value();
    }
    if (plan instanceof AdaptiveSparkPlanExec adaptive) {
      return bytesRead(adaptive.executedPlan());
    }
    if (plan instanceof QueryStageExec stage) {
      return bytesRead(stage.plan());
    }
    long bytes = 0;
    for (int i = 0; i < plan.children().size(); i++) {
      bytes += bytesRead(plan.children().apply(i));
    }
    return bytes;
  }
}
