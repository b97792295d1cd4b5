package io.zrecord.spark.ddl;

import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Unsupported;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.jspecify.annotations.Nullable;

/**
 * The properties by which Spark speaks of a table itself, such as its place. The manifest says them
 * otherwise or not at all, so a table keeps none of them. Stateless.
 */
final class ReservedProperties {
  /** Releases of Spark know more or fewer of these names. */
  private static final Set<String> NAMES = Set.of(
      TableCatalog.PROP_PROVIDER,
      TableCatalog.PROP_COMMENT,
      TableCatalog.PROP_LOCATION,
      TableCatalog.PROP_EXTERNAL,
      TableCatalog.PROP_IS_MANAGED_LOCATION,
      TableCatalog.PROP_OWNER,
      TableProperties.COLLATION,
      "table_type");

  private ReservedProperties() {}

  static boolean contains(String name) {
    return NAMES.contains(name);
  }

  /** Tells whether Spark takes a property for what it says itself, or for an option. */
  static boolean speaksAsSpark(String name) {
    return contains(name) || name.startsWith(TableCatalog.OPTION_PREFIX);
  }

  /** Tells whether a text names the place of a table. */
  static boolean isPlace(ReadPaths table, String location) {
    return location.equals(table.found().get(0))
        || DatasetPath.of(location, table.settings())
            .isSamePlaceAs(table.datasets().get(0));
  }

  /**
   * Requires that a table is already as a statement wants it.
   *
   * @param value what the property should say; null if it should be removed
   * @throws IllegalArgumentException if the collation is another one
   * @throws UnsupportedOperationException if anything else is not as the table is
   */
  static void requireTrue(ReadPaths table, String name, @Nullable String value) {
    if (name.equals(TableProperties.COLLATION) && value != null) {
      TableProperties.requireBinary("the table " + table, value);
      return;
    }
    boolean isTrue = value != null && isTrue(table, name, value);
    if (!isTrue) {
      throw Unsupported.operation(
          (value == null
                  ? "removing the property '" + name + "'"
                  : "the property '" + name + "' with the value " + value)
              + " of the table at " + table.found().get(0),
          "leave it out: the provider of a table is " + ZRecordOptions.FORMAT
              + ", and its place is its name");
    }
  }

  private static boolean isTrue(ReadPaths table, String name, String value) {
    return switch (name) {
      case TableCatalog.PROP_PROVIDER -> value.equalsIgnoreCase(ZRecordOptions.FORMAT);
      case TableCatalog.PROP_LOCATION -> isPlace(table, value);
      default -> false;
    };
  }
}
