package io.zrecord.spark.options;

import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Refuses the options of catalogs, of which zrecord's catalogs have none. Stateless. */
public final class CatalogOptions {
  private CatalogOptions() {}

  /**
   * Requires that a catalog has no options.
   *
   * @throws IllegalArgumentException if there are options; the message has no values, which may be
   *     credentials
   */
  public static void requireNone(String catalog, CaseInsensitiveStringMap options) {
    Set<String> names = new TreeSet<>(options.asCaseSensitiveMap().keySet());
    if (!names.isEmpty()) {
      String name = names.iterator().next();
      throw new IllegalArgumentException("Cannot use the catalog " + catalog + " with the option"
          + (names.size() == 1 ? " " : "s ") + String.join(", ", names)
          + ": the catalogs of zrecord have no options; leave out spark.sql.catalog." + catalog
          + "."
          + name + ", and set "
          + (StorageSettings.isSetting(name)
              ? "spark.hadoop." + name
              : "spark.datasource." + ZRecordOptions.FORMAT + ".<option>")
          + " for all reads and writes of a session");
    }
  }
}
