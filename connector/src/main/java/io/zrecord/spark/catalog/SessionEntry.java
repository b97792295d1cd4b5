package io.zrecord.spark.catalog;

import io.zrecord.spark.options.ZRecordOptions;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.types.StructType;

/**
 * Describes a zrecord table as a session catalog keeps it.
 *
 * @param name name for messages
 * @param location path of the dataset
 * @param declaration the declared columns
 * @param properties properties, as Spark shows them
 * @param options options given when the table was created, with or without the path among them
 * @param isNamed whether a catalog of zrecord loads the table by its name
 * @param keepsLocation whether the metastore has a location among the properties, beside the one of
 *     the files
 */
record SessionEntry(
    String name,
    String location,
    Declaration declaration,
    Map<String, String> properties,
    Map<String, String> options,
    boolean isNamed,
    boolean keepsLocation) {
  private static final Set<String> OF_ENTRY = Set.of(
      TableCatalog.PROP_PROVIDER,
      TableCatalog.PROP_OWNER,
      TableCatalog.PROP_LOCATION,
      TableCatalog.PROP_EXTERNAL,
      TableCatalog.PROP_IS_MANAGED_LOCATION);

  /** Property of an entry whose dataset was made, or found, when the entry was written. */
  private static final String HAS_DATASET = "zrecord.has-dataset";

  private static final String SOURCE_CLASS = "io.zrecord.spark.ZRecordSource";
  private static final String DEFAULT_SOURCE = "spark.sql.sources.default";

  /** Describes a table of which Spark's own catalog shows only columns and options. */
  static SessionEntry ofOptions(String location, StructType columns, Map<String, String> options) {
    return new SessionEntry(
        ZRecordOptions.FORMAT + ".`" + location + "`",
        location,
        new Declaration(columns),
        options.containsKey(HAS_DATASET) ? ofDataset(Map.of()) : Map.of(),
        options,
        false,
        false);
  }

  /**
   * Describes a table that a catalog loaded as one of Spark's own; empty if the table is not
   * zrecord's.
   */
  @SuppressWarnings("deprecation") // Newer releases prefer columns(); the oldest has schema() only.
  static Optional<SessionEntry> of(String catalog, Identifier identifier, Table table) {
    Map<String, String> properties = table.properties();
    String provider = properties.get(TableCatalog.PROP_PROVIDER);
    if (provider == null || !isZRecord(provider)) {
      return Optional.empty();
    }
    String location = properties.get(TableCatalog.PROP_LOCATION);
    return Optional.of(new SessionEntry(
        quoted(catalog, identifier),
        location == null ? Metastore.defaultLocation(identifier) : location,
        new Declaration(CharVarcharUtils.getRawSchema(table.schema())),
        Map.copyOf(properties),
        options(properties),
        true,
        table instanceof V1Table entry
            && entry.v1Table().properties().contains(TableCatalog.PROP_LOCATION)));
  }

  /** Tells whether the properties of a statement that creates a table ask for zrecord. */
  static boolean isZRecord(Map<String, String> properties) {
    String provider = properties.get(TableCatalog.PROP_PROVIDER);
    return isZRecord(
        provider == null ? SparkSession.active().conf().get(DEFAULT_SOURCE, "parquet") : provider);
  }

  static boolean isZRecord(String provider) {
    return provider.equalsIgnoreCase(ZRecordOptions.FORMAT) || provider.equals(SOURCE_CLASS);
  }

  /** Tells whether a property is what an entry says, and not the dataset. */
  static boolean isOfEntry(String property) {
    return OF_ENTRY.contains(property) || property.startsWith(TableCatalog.OPTION_PREFIX);
  }

  /** Returns the OPTIONS among properties; Spark gives each of them a prefix. */
  static Map<String, String> options(Map<String, String> properties) {
    Map<String, String> options = new TreeMap<>();
    properties.forEach((key, value) -> {
      if (key.startsWith(TableCatalog.OPTION_PREFIX)) {
        options.put(key.substring(TableCatalog.OPTION_PREFIX.length()), value);
      }
    });
    return options;
  }

  static String quoted(String catalog, Identifier identifier) {
    StringBuilder name = new StringBuilder(catalog);
    for (String part : identifier.namespace()) {
      name.append('.').append(part);
    }
    return name.append('.').append(identifier.name().toLowerCase(Locale.ROOT)).toString();
  }

  /** Returns this entry with its dataset at another path. */
  SessionEntry at(String other) {
    Map<String, String> changed = new TreeMap<>(properties);
    changed.put(TableCatalog.PROP_LOCATION, other);
    return new SessionEntry(
        name, other, declaration, Map.copyOf(changed), options, isNamed, keepsLocation);
  }

  /** Returns what an entry says of a table whose dataset is there. */
  static Map<String, String> ofDataset(Map<String, String> said) {
    Map<String, String> all = new TreeMap<>(said);
    all.put(HAS_DATASET, "true");
    return all;
  }

  /** Returns the change of an entry that says that there is a dataset. */
  static TableChange notingDataset() {
    return TableChange.setProperty(HAS_DATASET, "true");
  }

  /** Tells whether there was a dataset when the entry was written. */
  boolean hadDataset() {
    return properties.containsKey(HAS_DATASET);
  }

  /** Tells whether the files belong to the table, so that dropping the table deletes them. */
  boolean isManaged() {
    return !properties.containsKey(TableCatalog.PROP_EXTERNAL);
  }
}
