package io.zrecord.spark.options;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The options of a catalog whose tables have names.
 *
 * @param warehouse the path below which the tables are; empty if the catalog has paths only
 * @param settings of Hadoop for the tables, besides the session's. Never shown
 */
public record CatalogOptions(Optional<String> warehouse, Map<String, String> settings) {
  private static final String WAREHOUSE = "warehouse";

  /** Copies the settings. */
  public CatalogOptions {
    settings = Map.copyOf(settings);
  }

  /** Shows no settings, which may be credentials. */
  @Override
  public String toString() {
    return "warehouse " + warehouse.orElse("none");
  }

  /**
   * Parses options.
   *
   * @throws IllegalArgumentException if there are others; the message has no values, which may be
   *     credentials
   */
  public static CatalogOptions of(String catalog, CaseInsensitiveStringMap options) {
    Map<String, String> given = new TreeMap<>(options.asCaseSensitiveMap());
    given.keySet().removeIf(name -> name.equalsIgnoreCase(WAREHOUSE));
    Map<String, String> settings = StorageSettings.among(given);
    given.keySet().removeAll(settings.keySet());
    String warehouse = options.get(WAREHOUSE);
    if (!given.isEmpty()) {
      throw refusal(
          catalog,
          given.keySet(),
          "a catalog of zrecord has the option " + WAREHOUSE
              + " and settings of Hadoop, such as fs.s3a.endpoint");
    }
    if (warehouse != null && warehouse.isBlank()) {
      throw new IllegalArgumentException("The warehouse of the catalog " + catalog
          + " is empty; set spark.sql.catalog." + catalog + "." + WAREHOUSE
          + " to the path below which the tables are");
    }
    if (warehouse == null && !settings.isEmpty()) {
      throw refusal(
          catalog,
          settings.keySet(),
          "without the option " + WAREHOUSE + " the catalog has paths only, and no options");
    }
    return new CatalogOptions(
        Optional.ofNullable(warehouse).map(path -> path.replaceFirst("(?<=[^/:])/+$", "")),
        settings);
  }

  /**
   * Requires that a catalog has no options.
   *
   * @throws IllegalArgumentException if there are options; the message has no values, which may be
   *     credentials
   */
  public static void requireNone(String catalog, CaseInsensitiveStringMap options) {
    Set<String> names = new TreeSet<>(options.asCaseSensitiveMap().keySet());
    if (!names.isEmpty()) {
      throw refusal(catalog, names, "this catalog has no options");
    }
  }

  private static IllegalArgumentException refusal(
      String catalog, Set<String> names, String reason) {
    String name = names.iterator().next();
    return new IllegalArgumentException("Cannot use the catalog " + catalog + " with the option"
        + (names.size() == 1 ? " " : "s ") + String.join(", ", names) + ": " + reason
        + "; leave out spark.sql.catalog." + catalog + "." + name + ", and set "
        + (StorageSettings.isSetting(name)
            ? "spark.hadoop." + name
            : "spark.datasource." + ZRecordOptions.FORMAT + ".<option>")
        + " for all reads and writes of a session");
  }
}
