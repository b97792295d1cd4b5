package io.zrecord.spark

import org.apache.spark.sql.{SparkSession, Strategy}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

/** A session whose next statement is interrupted by the action of [[Meanwhile]], after Spark has
  * analyzed the statement: before the end of the optimization, or of the planning.
  */
class InterruptedSession(spark: SparkSession, point: String) {
  val session: SparkSession = InterruptedSession.like(spark)

  private object AfterOptimization extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      Meanwhile.run()
      plan
    }
  }

  private object BeforePlanning extends Strategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
      Meanwhile.run()
      Nil
    }
  }

  private val methods = session.sessionState.experimentalMethods
  point match {
    case "optimization" => methods.extraOptimizations = Seq(AfterOptimization)
    case "planning" => methods.extraStrategies = Seq(BeforePlanning)
    case "the tasks" =>
  }
}

object InterruptedSession {

  /** Returns another session with the same catalogs. */
  def like(spark: SparkSession): SparkSession = {
    val session = spark.newSession()
    spark.conf.getAll
      .filter { case (key, _) => key.startsWith("spark.sql.catalog.") }
      .foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  /** The points of the driver at which a statement is interrupted. */
  val Points: Seq[String] = Seq("optimization", "planning")
}
