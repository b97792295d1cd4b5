package io.zrecord.spark.write;

import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.Unsupported;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;

/**
 * Remembers the sessions whose rules see each write together with its query. Sessions that come
 * from one another share their extensions, and so the rules. Thread-safe.
 */
public final class CheckedSessions {
  private static final Set<SparkSessionExtensions> CHECKED =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  /** Those whose rules see a plan before Spark evaluates any part of the plan. */
  private static final Set<SparkSessionExtensions> CHECKED_EARLY =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private CheckedSessions() {}

  /** Remembers that the sessions of these extensions have the rules, for analysis as well. */
  public static void add(SparkSessionExtensions extensions) {
    CHECKED_EARLY.add(extensions);
    CHECKED.add(extensions);
  }

  /** Remembers that the sessions of these extensions have the rules of the optimizer. */
  public static void addLate(SparkSessionExtensions extensions) {
    CHECKED.add(extensions);
  }

  /** Tells whether rules of the current Spark session see its plans when they are analyzed. */
  public static boolean areAnalyzed() {
    return extensionsOf(SparkSession.active()).filter(CHECKED_EARLY::contains).isPresent();
  }

  /** Tells whether the sessions of these extensions have the rules. */
  public static boolean contains(SparkSessionExtensions extensions) {
    return CHECKED.contains(extensions);
  }

  /**
   * Returns the extensions of a session; empty if this Spark does not give them away. Spark hides
   * them from the compiler.
   */
  public static Optional<SparkSessionExtensions> extensionsOf(SparkSession session) {
    try {
      return Optional.ofNullable(
          (SparkSessionExtensions) session.getClass().getMethod("extensions").invoke(session));
    } catch (ReflectiveOperationException | ClassCastException e) {
      return Optional.empty();
    }
  }

  /**
   * Refuses to replace a version if nothing has compared that version with the query.
   *
   * @throws UnsupportedOperationException if the session of this thread lacks the rules
   */
  static void requireRules(String location, long version) {
    if (extensionsOf(SparkSession.active()).filter(CheckedSessions::contains).isEmpty()) {
      throw Unsupported.operation(
          "overwriting " + location + " in a session without zrecord's rules, which notice that a"
              + " query has read an older version than the overwrite would replace",
          "set spark.sql.extensions=io.zrecord.spark.ZRecordSessionExtensions when the session is"
              + " made, or set the option " + ZRecordOptions.EXPECTED_VERSION + "=" + version
              + " if the query does not read " + location);
    }
  }
}
