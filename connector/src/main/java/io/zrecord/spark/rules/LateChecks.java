package io.zrecord.spark.rules;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * Checks plans before they are optimized, for sessions that were made without the checks of
 * analyzed plans. Spark asks for its rules of analysis once in a session, and for those of the
 * optimizer with each query. Changes no plan. Stateless.
 */
public final class LateChecks extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    OverwriteOfItself.check(plan);
    UnstagedCreation.check(plan);
    UpdatesOfStreams.check(plan);
    MetadataOfStreams.check(plan);
    return plan;
  }
}
