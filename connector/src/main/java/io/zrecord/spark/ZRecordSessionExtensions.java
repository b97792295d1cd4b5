package io.zrecord.spark;

import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.rules.ChangesOfRelations;
import io.zrecord.spark.rules.ColumnsOfRowChanges;
import io.zrecord.spark.rules.CountsOfConstants;
import io.zrecord.spark.rules.EarlyParser;
import io.zrecord.spark.rules.ListsOfProcedures;
import io.zrecord.spark.rules.MetadataOfQueries;
import io.zrecord.spark.rules.MetadataOfStreams;
import io.zrecord.spark.rules.OptionsOfRelations;
import io.zrecord.spark.rules.OverwriteOfItself;
import io.zrecord.spark.rules.ProceduresOfCatalogs;
import io.zrecord.spark.rules.RefusalsOfNull;
import io.zrecord.spark.rules.ReplacedRecords;
import io.zrecord.spark.rules.RowChangesAnalyzed;
import io.zrecord.spark.rules.RowChangesOfOneVersion;
import io.zrecord.spark.rules.ScansOfLoops;
import io.zrecord.spark.rules.TextsOfStreams;
import io.zrecord.spark.rules.TimesOfPaths;
import io.zrecord.spark.rules.UnstagedCreation;
import io.zrecord.spark.rules.UpdatesOfStreams;
import io.zrecord.spark.write.CheckedSessions;
import java.lang.reflect.Method;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.Function1;
import scala.runtime.BoxedUnit;

/**
 * Registers the catalog {@code zrecord} when a session is created, so that SQL reaches datasets by
 * path without any configuration. Adds the rules that see a write together with its query, such as
 * {@link OverwriteOfItself}. Spark finds this class as a service, except where PySpark 3.5 makes
 * the session: see {@link LateExtensions}. The user's configuration stays.
 */
public final class ZRecordSessionExtensions implements SparkSessionExtensionsProvider {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    SparkEnv environment = SparkEnv.get();
    if (environment != null) {
      environment
          .conf()
          .setIfMissing(
              "spark.sql.catalog." + ZRecordOptions.FORMAT, ZRecordCatalog.class.getName());
    }
    extensions.injectCheckRule(session -> OverwriteOfItself::check);
    extensions.injectCheckRule(session -> UnstagedCreation::check);
    extensions.injectCheckRule(session -> UpdatesOfStreams::check);
    extensions.injectCheckRule(session -> MetadataOfStreams::check);
    extensions.injectCheckRule(session -> RowChangesOfOneVersion::checkSeveral);
    extensions.injectCheckRule(session -> ReplacedRecords::checkSeveral);
    extensions.injectResolutionRule(session -> new ChangesOfRelations());
    extensions.injectResolutionRule(session -> new ListsOfProcedures());
    extensions.injectResolutionRule(session -> new TextsOfStreams());
    extensions.injectResolutionRule(session -> new RowChangesAnalyzed());
    extensions.injectPostHocResolutionRule(session -> new RowChangesAnalyzed());
    extensions.injectPostHocResolutionRule(session -> new RefusalsOfNull());
    extensions.injectPostHocResolutionRule(session -> new MetadataOfQueries());
    extensions.injectOptimizerRule(session -> new ReplacedRecords());
    extensions.injectOptimizerRule(session -> new RowChangesOfOneVersion());
    extensions.injectOptimizerRule(session -> new ColumnsOfRowChanges());
    extensions.injectOptimizerRule(session -> new ScansOfLoops());
    extensions.injectOptimizerRule(CountsOfConstants::of);
    injectEarly(
        extensions,
        List.of(
            OptionsOfRelations::new,
            session -> new ChangesOfRelations.Early(),
            TimesOfPaths::new,
            ProceduresOfCatalogs::new));
    CheckedSessions.add(extensions);
    return BoxedUnit.UNIT;
  }

  /**
   * Injects rules that see a plan before its tables are found. Such rules, and options in SQL, are
   * new in Spark 4. A session with the support of Hive does not run them.
   */
  private static void injectEarly(
      SparkSessionExtensions extensions,
      List<Function1<SparkSession, Rule<LogicalPlan>>> builders) {
    try {
      Method inject =
          SparkSessionExtensions.class.getMethod("injectHintResolutionRule", Function1.class);
      for (Function1<SparkSession, Rule<LogicalPlan>> builder : builders) {
        inject.invoke(extensions, builder);
      }
    } catch (NoSuchMethodException e) {
      return;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Cannot add a rule to this Spark", e);
    }
    extensions.injectParser((session, parser) -> EarlyParser.of(session, parser, builders));
  }
}
