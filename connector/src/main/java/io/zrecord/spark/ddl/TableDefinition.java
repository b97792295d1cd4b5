package io.zrecord.spark.ddl;

import io.zrecord.schema.Declarations;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Unsupported;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * What a statement that creates or replaces a table says of the table, besides its columns.
 *
 * @param options of the write that comes with the statement
 * @param described the comment and the properties that the table declares from then on
 * @param said all that the statement says
 */
public record TableDefinition(Map<String, String> options, Declarations described, NewTable said) {
  /**
   * Parses what a statement says.
   *
   * @param path where the table is
   * @throws IllegalArgumentException if the statement gives the table another place, or a setting
   *     of Hadoop with which the table was not loaded
   * @throws UnsupportedOperationException if the statement asks for what no table keeps
   */
  public static TableDefinition of(ReadPaths path, NewTable said) {
    Map<String, String> properties = said.properties();
    requirePlace(path, properties.get(TableCatalog.PROP_LOCATION));
    String provider = properties.getOrDefault(TableCatalog.PROP_PROVIDER, ZRecordOptions.FORMAT);
    if (!provider.equalsIgnoreCase(ZRecordOptions.FORMAT)) {
      throw Unsupported.operation(
          "storing " + path + " as " + provider,
          "leave USING out, write with format(\"" + ZRecordOptions.FORMAT
              + "\"), or use the session's catalog");
    }
    TableProperties.requireBinary(
        "the table " + path, properties.getOrDefault(TableProperties.COLLATION, "UTF8_BINARY"));
    Map<String, String> options = new HashMap<>();
    Map<String, String> kept = new HashMap<>();
    properties.forEach((key, value) -> {
      // The OPTIONS of a CREATE statement, such as (compression 'zstd'), arrive twice among the
      // properties: once with this prefix, and once without.
      if (key.startsWith(TableCatalog.OPTION_PREFIX)) {
        options.put(key.substring(TableCatalog.OPTION_PREFIX.length()), value);
      } else if (!ReservedProperties.contains(key)
          && !properties.containsKey(TableCatalog.OPTION_PREFIX + key)) {
        kept.put(key, value);
      }
    });
    TableProperties.requireKept(kept);
    // Settings of Hadoop among the OPTIONS of a CREATE statement come too late.
    StorageSettings.requireLoaded(path.settings(), new CaseInsensitiveStringMap(options));
    return new TableDefinition(
        options,
        Declarations.NONE
            .withComment(properties.getOrDefault(TableCatalog.PROP_COMMENT, ""))
            .withProperties(kept),
        said);
  }

  /**
   * Returns what the table declares from then on.
   *
   * @param fields the fields of the table, with their numbers
   * @throws IllegalArgumentException if a constraint names a column that is not there
   * @throws UnsupportedOperationException if the table cannot keep a constraint
   */
  public Declarations declared(RecordSchema fields) {
    FieldNames names = FieldNames.of(fields);
    return described
        .withConstraints(said.constraints().stream()
            .map(constraint -> constraint.apply(names))
            .toList())
        .withIdentities(said.identities().stream()
            .map(column ->
                column.of(fields.fields().get(fields.ordinal(column.name())).id()))
            .toList());
  }

  private static void requirePlace(ReadPaths path, @Nullable String location) {
    String place = path.found().get(0);
    if (location != null && !ReservedProperties.isPlace(path, location)) {
      throw new IllegalArgumentException("Cannot create " + path + " with the LOCATION " + location
          + ": its place is " + place + "; leave LOCATION out, or create a table of the session's"
          + " catalog, such as create table t using zrecord location '" + location + "'");
    }
  }

  /**
   * Returns the properties of a table as Spark shows them. A manifest, which anybody may have
   * written, does not say what Spark itself says.
   *
   * @param path where the table is
   */
  public static Map<String, String> shown(ReadPaths path, Declarations declared) {
    Map<String, String> properties = new HashMap<>(declared.properties());
    properties.keySet().removeIf(ReservedProperties::speaksAsSpark);
    properties.put(TableCatalog.PROP_PROVIDER, ZRecordOptions.FORMAT);
    if (path.found().size() == 1) {
      properties.put(TableCatalog.PROP_LOCATION, path.found().get(0));
      properties.put(
          TableCatalog.PROP_IS_MANAGED_LOCATION, Boolean.toString(path.table().isPresent()));
    }
    if (!declared.comment().isEmpty()) {
      properties.put(TableCatalog.PROP_COMMENT, declared.comment());
    }
    return properties;
  }
}
