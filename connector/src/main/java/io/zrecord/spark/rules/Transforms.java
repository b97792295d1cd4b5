package io.zrecord.spark.rules;

import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper$;

/** Transforms of plans while Spark analyzes them. Stateless. */
final class Transforms {
  private Transforms() {}

  /**
   * Runs a rule that transforms a whole plan, whose analyzed parts it is to see as well. Spark
   * refuses such a rule in its analyzer where spark.testing is set, unless it is said to be meant.
   */
  static <T> T ofAnalyzed(Supplier<T> rule) {
    return AnalysisHelper$.MODULE$.allowInvokingTransformsInAnalyzer(rule::get);
  }
}
