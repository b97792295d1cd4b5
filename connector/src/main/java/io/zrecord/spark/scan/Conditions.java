package io.zrecord.spark.scan;

import java.util.List;
import org.apache.spark.sql.connector.expressions.filter.Predicate;

/**
 * The conditions that Spark has offered to a scan, for the plan that a user sees. Immutable.
 *
 * @param pushed those that narrow down what is read
 * @param notPushed those that narrow nothing down: Spark evaluates them for all records that are
 *     read
 */
record Conditions(List<Predicate> pushed, List<Predicate> notPushed) {
  /** Longest text of conditions in a plan. */
  private static final int MAX_TEXT = 1000;

  Conditions {
    pushed = List.copyOf(pushed);
    notPushed = List.copyOf(notPushed);
  }

  /** Returns a part of the description of a scan. */
  String description() {
    return "PushedFilters: " + shortened(pushed)
        + (notPushed.isEmpty() ? "" : ", NotPushed: " + shortened(notPushed));
  }

  private static String shortened(List<Predicate> conditions) {
    String text = conditions.toString();
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
  }
}
