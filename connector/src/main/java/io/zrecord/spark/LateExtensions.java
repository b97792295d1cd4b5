package io.zrecord.spark;

import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.rules.ColumnsOfRowChanges;
import io.zrecord.spark.rules.CountsOfConstants;
import io.zrecord.spark.rules.LateChecks;
import io.zrecord.spark.rules.MetadataOfQueries;
import io.zrecord.spark.rules.RefusalsOfNull;
import io.zrecord.spark.rules.ReplacedRecords;
import io.zrecord.spark.rules.RowChangesOfOneVersion;
import io.zrecord.spark.write.CheckedSessions;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function1;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * Gives a session what {@link ZRecordSessionExtensions} would have given it when it was made.
 * PySpark 3.5 makes its session without asking services for extensions, so this is done when the
 * session first meets the data source or a catalog. Thread-safe.
 */
final class LateExtensions {
  private static final Logger LOG = LoggerFactory.getLogger(LateExtensions.class);

  /** Sessions of which the log says that they could not be extended. */
  private static final Set<SparkSession> SAID =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private LateExtensions() {}

  /**
   * Extends the session of this thread, if there is one. Never fails: Spark makes the source
   * whenever it looks for any source. A write that needs the rules is refused if they are missing.
   */
  static void ensure() {
    ensure(session -> {
      addCatalog(session);
      addRules(session);
    });
  }

  /** Does the same with another way to extend a session. Says once for a session that it failed. */
  static void ensure(Consumer<SparkSession> extension) {
    try {
      scala.Option<SparkSession> active = SparkSession.getActiveSession();
      scala.Option<SparkSession> session =
          active.isDefined() ? active : SparkSession.getDefaultSession();
      if (session.isDefined()) {
        ensure(session.get(), extension);
      }
    } catch (LinkageError e) {
      LOG.debug("This Spark has other sessions", e);
    }
  }

  private static void ensure(SparkSession session, Consumer<SparkSession> extension) {
    try {
      if (!session.sparkContext().isStopped()) {
        extension.accept(session);
      }
    } catch (RuntimeException | LinkageError e) {
      if (SAID.add(session)) {
        LOG.warn(
            "zrecord's rules could not be added to a session, so overwrites are refused there"
                + " unless they have the option {}; set"
                + " spark.sql.extensions={} when the session is made",
            ZRecordOptions.EXPECTED_VERSION,
            ZRecordSessionExtensions.class.getName(),
            e);
      } else {
        LOG.debug("The session was not extended", e);
      }
    }
  }

  private static synchronized void addRules(SparkSession session) {
    SparkSessionExtensions extensions = CheckedSessions.extensionsOf(session)
        .orElseThrow(() -> new IllegalStateException("This Spark hides a session's extensions"));
    if (!CheckedSessions.contains(extensions)) {
      addRules(
          extensions,
          List.of(
              any -> new LateChecks(),
              any -> new RefusalsOfNull(),
              any -> new MetadataOfQueries(),
              any -> new ReplacedRecords(),
              any -> new RowChangesOfOneVersion(),
              any -> new ColumnsOfRowChanges(),
              CountsOfConstants::late));
      CheckedSessions.addLate(extensions);
    }
  }

  /**
   * Adds rules of the optimizer. Another thread may be going through the list of rules, for a query
   * of any data source. So this replaces the list by another list, while Spark's own method would
   * change the list.
   *
   * @throws IllegalStateException if this Spark keeps its rules elsewhere
   */
  static void addRules(
      SparkSessionExtensions extensions, List<Function1<SparkSession, Rule<LogicalPlan>>> rules) {
    try {
      Field list = SparkSessionExtensions.class.getDeclaredField("optimizerRules");
      list.setAccessible(true);
      SparkSessionExtensions copy = new SparkSessionExtensions();
      Iterator<?> present = ((Iterable<?>) list.get(extensions)).iterator();
      while (present.hasNext()) {
        copy.injectOptimizerRule(rule(present.next()));
      }
      rules.forEach(copy::injectOptimizerRule);
      // A final field that is set is safely published, as at the end of a constructor.
      list.set(extensions, list.get(copy));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Cannot add rules to this Spark", e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Function1<SparkSession, Rule<LogicalPlan>> rule(Object builder) {
    return (Function1<SparkSession, Rule<LogicalPlan>>) builder;
  }

  private static void addCatalog(SparkSession session) {
    String key = "spark.sql.catalog." + ZRecordOptions.FORMAT;
    if (!session.conf().contains(key)) {
      session.conf().set(key, ZRecordCatalog.class.getName());
    }
  }
}
