package io.zrecord.spark.procedure;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.ddl.NameParts;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.storage.Storage;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalog.Catalog;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;

/** Finds the table that an argument names. Stateless. */
final class TableArgument {
  private TableArgument() {}

  /**
   * Returns the storage of a table.
   *
   * @param text a name in the catalog, with or without the catalog's own name, or
   *     {@code zrecord.`path`}; a path or URI has a slash
   * @throws IllegalArgumentException if there is no such table, or it is none of zrecord
   */
  static Storage storage(TableCatalog catalog, String text) {
    return storage(text, path(catalog, text));
  }

  /**
   * Returns the storage of a table that a session knows.
   *
   * @param text a name, or a path or URI, which has a slash
   * @throws IllegalArgumentException if there is no such table, or it is none of zrecord
   */
  static Storage storage(SparkSession spark, String text) {
    return storage(
        text,
        PathIdentifiers.isPath(text)
            ? DatasetPath.of(text)
            : ZRecordTables.named(spark, text).path());
  }

  private static Storage storage(String text, DatasetPath path) {
    if (path.store().isPresent()) {
      throw Unsupported.operation(
          "a procedure for " + text + ", which is a store that is written online",
          "use the commands of the store");
    }
    return path.table().storage();
  }

  private static DatasetPath path(TableCatalog catalog, String text) {
    if (PathIdentifiers.isPath(text)) {
      return DatasetPath.of(text);
    }
    List<String> parts = NameParts.parsed(text)
        .orElseThrow(() -> new IllegalArgumentException(
            "'" + text + "' is no name of a table; give a name such as db.photos, or a path"));
    if (parts.size() == 2
        && parts.get(0).equalsIgnoreCase(ZRecordOptions.FORMAT)
        && parts.get(1).indexOf('/') >= 0) {
      return DatasetPath.of(parts.get(1));
    }
    if (parts.size() > 1 && parts.get(0).equalsIgnoreCase(catalog.name())) {
      parts = parts.subList(1, parts.size());
    }
    int last = parts.size() - 1;
    String[] namespace =
        last == 0 ? namespace(catalog) : parts.subList(0, last).toArray(String[]::new);
    return path(catalog, Identifier.of(namespace, parts.get(last)), text);
  }

  /** Returns the namespace in which a statement would look for a name. */
  private static String[] namespace(TableCatalog catalog) {
    Catalog current = SparkSession.active().catalog();
    if (!current.currentCatalog().equals(catalog.name())) {
      return catalog.defaultNamespace();
    }
    String namespace = current.currentDatabase();
    return namespace.isEmpty()
        ? new String[0]
        : NameParts.parsed(namespace).orElseThrow().toArray(String[]::new);
  }

  private static DatasetPath path(TableCatalog catalog, Identifier identifier, String text) {
    Table found;
    try {
      found = catalog.loadTable(identifier);
    } catch (NoSuchTableException e) {
      throw new IllegalArgumentException(
          "There is no table '" + text + "' in the catalog " + catalog.name()
              + "; give a name in this catalog, or a path",
          e);
    }
    if (found instanceof ZRecordTable table) {
      return table.path();
    }
    throw new IllegalArgumentException("The table '" + text + "' is none of "
        + ZRecordOptions.FORMAT + "; give a table of " + ZRecordOptions.FORMAT);
  }
}
