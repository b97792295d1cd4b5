package io.zrecord.spark.scan;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.SparkSession;

/**
 * Knows the sessions in which a {@code count(*)} that Spark offers is one. Spark offers every count
 * of a constant as {@code count(*)}, unless a rule rewrites the count before. Thread-safe.
 *
 * <p>Spark answers most counts without a task. Such a count names no dataset once it is cached. In
 * sessions whose checks see cached rows, and not what they are made of, a task answers.
 */
public final class CountPushDown {
  private static final Set<SparkSession> ALLOWED =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private static final Set<SparkSession> BY_TASKS =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private CountPushDown() {}

  /** Lets scans of a session, which has the rule, answer counts. */
  public static void allow(SparkSession session) {
    ALLOWED.add(session);
  }

  /** Lets scans of a session, which has the rule, answer counts by tasks. */
  public static void allowByTasks(SparkSession session) {
    BY_TASKS.add(session);
    ALLOWED.add(session);
  }

  /** Tells whether tasks answer counts in the session of this thread. */
  static boolean isByTasks() {
    return BY_TASKS.contains(SparkSession.active());
  }

  /** Tells whether scans of the session of this thread may answer counts. */
  static boolean isAllowed() {
    return ALLOWED.contains(SparkSession.active());
  }
}
