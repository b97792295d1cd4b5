package io.zrecord.spark.catalog;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * Reads and changes entries of Spark's session catalog in ways that no public interface offers. All
 * methods called here by name have the same descriptors in every release. Stateless.
 */
final class Metastore {
  private Metastore() {}

  /** Returns where a managed table of this name has its files. */
  static String defaultLocation(Identifier identifier) {
    return new Path(catalog().defaultTablePath(of(identifier))).toString();
  }

  /** Makes a location absolute. A relative location is below the directory of the database. */
  static String absolute(String location, Identifier identifier) {
    Path path = new Path(location);
    return path.isAbsolute()
        ? location
        : new Path(new Path(catalog().defaultTablePath(of(identifier))).getParent(), path)
            .toString();
  }

  /**
   * Writes the entry of a managed table, which owns its files, as a copy of the entry of an
   * external table. Spark itself refuses to create a managed table where there are files already,
   * and a table that a query creates has its files first. The entry of the external table cannot be
   * changed instead: Hive gives such an entry no place of its own, and would later drop and rename
   * nothing but the entry.
   *
   * @throws AnalysisException if there is a table of the name
   */
  static void copyAsManaged(Identifier external, Identifier name) throws AnalysisException {
    CatalogTable entry = catalog().getTableMetadata(of(external));
    catalog().createTable(managed(entry, of(name)), false, false);
  }

  /** Tells whether the entries are in a metastore of Hive. */
  static boolean isOfHive() {
    return SparkSession.active()
        .conf()
        .get("spark.sql.catalogImplementation", "in-memory")
        .equals("hive");
  }

  /** Replaces the declared columns of a table. */
  static void setColumns(Identifier identifier, StructType columns) throws AnalysisException {
    TableIdentifier table = catalog().getTableMetadata(of(identifier)).identifier();
    catalog()
        .externalCatalog()
        .alterTableDataSchema(table.database().get(), table.table(), columns);
  }

  /** Returns the database of a table. */
  static String databaseOf(Identifier identifier) {
    String[] namespace = identifier.namespace();
    return namespace.length == 0 ? catalog().getCurrentDatabase() : namespace[0];
  }

  /** Returns the names of all databases. */
  static List<String> databases() {
    return list("listDatabases", String.class);
  }

  /** Returns the entries of a database, by two requests. */
  static List<CatalogTable> tables(String database) {
    return list("getTablesByName", CatalogTable.class, call("listTables", database, "*", false));
  }

  private static <T> List<T> list(String method, Class<T> type, Object... arguments) {
    List<T> list = new ArrayList<>();
    Iterator<?> items = ((Iterable<?>) call(method, arguments)).iterator();
    while (items.hasNext()) {
      list.add(type.cast(items.next()));
    }
    return list;
  }

  /** Calls a method with a list in its descriptor, where Scala's releases have other types. */
  private static Object call(String name, Object... arguments) {
    try {
      return Arrays.stream(SessionCatalog.class.getMethods())
          .filter(method ->
              method.getName().equals(name) && method.getParameterCount() == arguments.length)
          .findFirst()
          .orElseThrow()
          .invoke(catalog(), arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "Cannot tell which places other tables have: the session's catalog does not answer "
              + name + " of " + Arrays.toString(arguments) + "; try again",
          e);
    }
  }

  private static SessionCatalog catalog() {
    return SparkSession.active().sessionState().catalog();
  }

  private static TableIdentifier of(Identifier identifier) {
    String[] namespace = identifier.namespace();
    return namespace.length == 0
        ? new TableIdentifier(identifier.name())
        : new TableIdentifier(identifier.name(), Option.apply(namespace[0]));
  }

  /** Copies most members. The number of members differs between releases. */
  private static CatalogTable managed(CatalogTable table, TableIdentifier name) {
    Object[] members = new Object[table.productArity()];
    for (int i = 0; i < members.length; i++) {
      Object member = table.productElement(i);
      members[i] = member instanceof CatalogTableType
          ? CatalogTableType.MANAGED()
          : member instanceof TableIdentifier ? name : member;
    }
    try {
      Constructor<?> constructor = Arrays.stream(CatalogTable.class.getConstructors())
          .filter(candidate -> candidate.getParameterCount() == members.length)
          .findFirst()
          .orElseThrow();
      return (CatalogTable) constructor.newInstance(members);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This release of Spark has another CatalogTable", e);
    }
  }
}
