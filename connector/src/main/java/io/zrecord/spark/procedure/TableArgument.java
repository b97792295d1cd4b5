package io.zrecord.spark.procedure;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.storage.Storage;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import scala.collection.Iterator;

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
    DatasetPath path = path(catalog, text);
    if (path.store().isPresent()) {
      throw Unsupported.operation(
          "a procedure for " + text + ", which is a store that is written online",
          "use the commands of the store");
    }
    return path.table().storage();
  }

  private static DatasetPath path(TableCatalog catalog, String text) {
    if (text.indexOf('`') < 0 && text.indexOf('/') >= 0) {
      return DatasetPath.of(text);
    }
    String[] parts = parts(text);
    if (parts.length == 2 && parts[0].equalsIgnoreCase(ZRecordOptions.FORMAT)) {
      return DatasetPath.of(parts[1]);
    }
    if (parts.length > 1 && parts[0].equalsIgnoreCase(catalog.name())) {
      parts = Arrays.copyOfRange(parts, 1, parts.length);
    }
    int last = parts.length - 1;
    String[] namespace = last == 0 ? catalog.defaultNamespace() : Arrays.copyOf(parts, last);
    return path(catalog, Identifier.of(namespace, parts[last]), text);
  }

  private static DatasetPath path(TableCatalog catalog, Identifier identifier, String text) {
    Table found;
    try {
      found = catalog.loadTable(identifier);
    } catch (NoSuchTableException e) {
      throw new IllegalArgumentException("There is no table '" + text + "' in the catalog "
          + catalog.name() + "; give a name in this catalog, or a path", e);
    }
    if (found instanceof ZRecordTable table) {
      return table.path();
    }
    throw new IllegalArgumentException("The table '" + text + "' is none of "
        + ZRecordOptions.FORMAT + "; give a table of " + ZRecordOptions.FORMAT);
  }

  private static String[] parts(String text) {
    try {
      Iterator<?> parts = ((scala.collection.Iterable<?>)
              CatalystSqlParser.class
                  .getMethod("parseMultipartIdentifier", String.class)
                  .invoke(null, text))
          .iterator();
      java.util.List<String> all = new java.util.ArrayList<>();
      while (parts.hasNext()) {
        all.add((String) parts.next());
      }
      return all.toArray(String[]::new);
    } catch (java.lang.reflect.InvocationTargetException e) {
      if (e.getCause() instanceof ParseException) {
        throw new IllegalArgumentException("'" + text + "' is no name of a table; give a name such"
            + " as db.photos, or a path", e.getCause());
      }
      throw new IllegalStateException("Cannot parse '" + text + "'", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This release of Spark parses names otherwise", e);
    }
  }
}
