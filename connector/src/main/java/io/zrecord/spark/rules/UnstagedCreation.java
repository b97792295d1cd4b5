package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.SessionTables;
import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.path.SparkErrors;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.plans.logical.AlterTableCommand;
import org.apache.spark.sql.catalyst.plans.logical.CreateTable;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.SetTableLocation;
import org.apache.spark.sql.catalyst.plans.logical.TableSpec;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * Refuses statements that Spark's session catalog cannot run safely on zrecord tables, or not at
 * all, if ZRecordSessionCatalog is not set. Spark's catalog drops a table before it runs the query
 * that replaces the table. When a query creates a table, Spark's catalog adds the rows to a dataset
 * that is already there. The source alone cannot tell these statements from others, because Spark
 * asks only for a table in each case.
 *
 * <p>Plans for other catalogs and other sources pass. Stateless.
 */
public final class UnstagedCreation {
  private static final String SESSION_CATALOG = "spark_catalog";

  private UnstagedCreation() {}

  /**
   * Checks an analyzed plan.
   *
   * @throws UnsupportedOperationException if a statement in the plan is not safe
   * @throws IllegalArgumentException if the options of a table have a setting of Hadoop
   */
  public static BoxedUnit check(LogicalPlan plan) {
    plan.foreach(node -> {
      if (node instanceof CreateTableAsSelect create) {
        checkCreation(create.name(), create.tableSpec(), true);
      } else if (node instanceof CreateTable create) {
        checkCreation(create.name(), create.tableSpec(), false);
        checkColumns(create);
      } else if (node instanceof ReplaceTableAsSelect replace) {
        checkReplacement(replace.name(), replace.tableSpec());
      } else if (node instanceof ReplaceTable replace) {
        checkReplacement(replace.name(), replace.tableSpec());
      } else if (node instanceof AlterTableCommand change) {
        checkChange(change);
      }
      return BoxedUnit.UNIT;
    });
    return BoxedUnit.UNIT;
  }

  private static void checkCreation(LogicalPlan name, TableSpecBase spec, boolean hasQuery) {
    if (isUnstaged(name) && isZRecord(spec)) {
      ResolvedIdentifier target = (ResolvedIdentifier) name;
      requireNewer();
      refuseToKeep(spec);
      // A program may give the place as a property of the table.
      Option<String> location = spec.location().isDefined()
          ? spec.location()
          : spec.properties().get(TableCatalog.PROP_LOCATION);
      if (hasQuery && location.isDefined()) {
        SparkErrors.done(() -> SessionTables.requireNoDataset(
            (TableCatalog) target.catalog(), target.identifier(), location.get()));
      }
    }
  }

  /** The dataset says which columns there are, and Spark's catalog makes no dataset. */
  private static void checkColumns(CreateTable create) {
    if (isUnstaged(create.name())
        && isZRecord(create.tableSpec())
        && !create.tableSchema().isEmpty()) {
      ResolvedIdentifier target = (ResolvedIdentifier) create.name();
      throw SessionTables.refusal("declaring the columns of " + target.identifier()
          + " in this session catalog, which makes no dataset");
    }
  }

  private static void checkChange(AlterTableCommand change) {
    if (change.table() instanceof ResolvedTable target
        && target.table() instanceof ZRecordTable
        && target.catalog().name().equals(SESSION_CATALOG)
        && !SessionTables.isStaged(target.catalog())
        && !(change instanceof SetTableLocation)) {
      throw SessionTables.refusal("changing " + target.identifier()
          + " in this session catalog, which changes nothing but its own entry");
    }
  }

  private static void checkReplacement(LogicalPlan name, TableSpecBase spec) {
    if (isUnstaged(name)) {
      ResolvedIdentifier target = (ResolvedIdentifier) name;
      if (isZRecord(spec)) {
        requireNewer();
        refuseToKeep(spec);
      }
      SessionTables.requireNoTable((TableCatalog) target.catalog(), target.identifier());
    }
  }

  private static boolean isUnstaged(LogicalPlan name) {
    return name instanceof ResolvedIdentifier target
        && target.catalog().name().equals(SESSION_CATALOG)
        && target.catalog() instanceof TableCatalog catalog
        && !SessionTables.isStaged(catalog);
  }

  private static boolean isZRecord(TableSpecBase spec) {
    Option<String> provider = spec.provider();
    return SessionTables.isZRecord(provider.isDefined() ? provider.get() : null);
  }

  /** Refuses settings among the options: Spark would keep them with the table. */
  private static void refuseToKeep(TableSpecBase spec) {
    if (spec instanceof TableSpec resolved) {
      Map<String, String> options = new HashMap<>();
      resolved.options().foreach(option -> options.put(option._1(), option._2()));
      StorageSettings.refuseToKeep(options);
    }
  }

  private static void requireNewer() {
    if (SparkSession.active().version().startsWith("3.")) {
      throw SessionTables.refusal("tables in the session catalog of Spark 3");
    }
  }
}
