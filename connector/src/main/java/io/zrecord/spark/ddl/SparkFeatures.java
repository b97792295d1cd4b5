package io.zrecord.spark.ddl;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;

/** Knows what this release of Spark can say of a table. Stateless. */
public final class SparkFeatures {
  private static final boolean HAS_CONSTRAINTS = Arrays.stream(Table.class.getMethods())
      .anyMatch(method -> method.getName().equals("constraints"));

  /** What a catalog keeps of a definition. Each release knows some of these names. */
  private static final List<String> KEPT = List.of(
      "SUPPORT_COLUMN_DEFAULT_VALUE",
      "SUPPORT_TABLE_CONSTRAINT",
      "SUPPORTS_CREATE_TABLE_WITH_IDENTITY_COLUMNS");

  private SparkFeatures() {}

  /** Tells whether Spark evaluates the checks of a table on each write, as it does from 4.1 on. */
  public static boolean evaluatesChecks() {
    return HAS_CONSTRAINTS;
  }

  /** Returns what the catalogs keep of a {@code CREATE TABLE}. */
  public static Set<TableCatalogCapability> capabilities() {
    Set<TableCatalogCapability> capabilities = EnumSet.noneOf(TableCatalogCapability.class);
    for (TableCatalogCapability known : TableCatalogCapability.values()) {
      if (KEPT.contains(known.name())) {
        capabilities.add(known);
      }
    }
    return capabilities;
  }
}
