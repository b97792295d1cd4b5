package io.zrecord.spark;

import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.rules.CountsOfConstants;
import io.zrecord.spark.rules.LateChecks;
import io.zrecord.spark.write.CheckedSessions;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a session what {@link ZRecordSessionExtensions} would have given it when it was made.
 * PySpark 3.5 makes its session without asking services for extensions, so this is done when the
 * session first meets the data source or a catalog. Thread-safe.
 */
final class LateExtensions {
  private static final Logger LOG = LoggerFactory.getLogger(LateExtensions.class);

  private LateExtensions() {}

  /**
   * Extends the session of this thread, if there is one. Never fails: Spark makes the source
   * whenever it looks for any source. A write that needs the rules is refused if they are missing.
   */
  static void ensure() {
    try {
      scala.Option<SparkSession> active = SparkSession.getActiveSession();
      scala.Option<SparkSession> session =
          active.isDefined() ? active : SparkSession.getDefaultSession();
      if (session.isDefined() && !session.get().sparkContext().isStopped()) {
        addRules(session.get());
        addCatalog(session.get());
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.debug("The session was not extended", e);
    }
  }

  private static synchronized void addRules(SparkSession session) {
    Optional<SparkSessionExtensions> extensions = CheckedSessions.extensionsOf(session);
    if (extensions.isPresent() && !CheckedSessions.contains(extensions.get())) {
      extensions.get().injectOptimizerRule(any -> new LateChecks());
      extensions.get().injectOptimizerRule(CountsOfConstants::new);
      CheckedSessions.add(extensions.get());
    }
  }

  private static void addCatalog(SparkSession session) {
    String key = "spark.sql.catalog." + ZRecordOptions.FORMAT;
    if (!session.conf().contains(key)) {
      session.conf().set(key, ZRecordCatalog.class.getName());
    }
  }
}
