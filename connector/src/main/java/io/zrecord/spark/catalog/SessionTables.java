package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.Unsupported;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.jspecify.annotations.Nullable;

/** Builds refusals, with their remedies, for a session catalog that is not zrecord's. Stateless. */
public final class SessionTables {
  private static final String REMEDY = "set spark.sql.catalog.spark_catalog="
      + "io.zrecord.spark.ZRecordSessionCatalog when the session is made";

  private SessionTables() {}

  /** Tells whether a catalog creates and replaces zrecord tables as a whole. */
  public static boolean isStaged(TableCatalog catalog) {
    return catalog instanceof StagingSessionCatalog;
  }

  /** Tells whether a statement that names a data source, or none, asks for zrecord. */
  public static boolean isZRecord(@Nullable String provider) {
    return SessionEntry.isZRecord(
        provider == null ? Map.of() : Map.of(TableCatalog.PROP_PROVIDER, provider));
  }

  /**
   * Refuses to create a table with a query where there is a dataset already.
   *
   * @throws IllegalArgumentException if there is no such table yet, but a dataset at the location
   */
  public static void requireNoDataset(
      TableCatalog catalog, Identifier identifier, String location) {
    String path = Metastore.absolute(location, identifier);
    if (!catalog.tableExists(identifier) && DatasetPath.of(path).exists()) {
      throw new IllegalArgumentException(
          DatasetsInTheWay.message(SessionEntry.quoted(catalog.name(), identifier), path));
    }
  }

  /**
   * Refuses to replace a zrecord table, which would be dropped before the query runs.
   *
   * @throws UnsupportedOperationException if the identifier names a zrecord table
   */
  public static void requireNoTable(TableCatalog catalog, Identifier identifier) {
    if (isTableOfZRecord(catalog, identifier)) {
      throw refusal("replacing " + SessionEntry.quoted(catalog.name(), identifier)
          + " in this session catalog, which drops the table and its files before the query runs");
    }
  }

  /** Returns a refusal with the remedy that helps in all cases. */
  public static UnsupportedOperationException refusal(String what) {
    return Unsupported.operation(what, REMEDY);
  }

  private static boolean isTableOfZRecord(TableCatalog catalog, Identifier identifier) {
    try {
      if (!catalog.tableExists(identifier)) {
        return false;
      }
      Table table = catalog.loadTable(identifier);
      String provider = table.properties().get(TableCatalog.PROP_PROVIDER);
      return table instanceof ZRecordTable || (provider != null && isZRecord(provider));
    } catch (NoSuchTableException e) {
      return false;
    }
  }
}
