package io.zrecord.spark.catalog;

import java.lang.reflect.Constructor;
import java.util.Arrays;
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

/**
 * Changes entries of Spark's session catalog in ways that no public interface offers. All methods
 * called here have the same descriptors in every release. Stateless.
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
   * Makes an external table a managed table, which owns its files. Spark itself refuses to create a
   * managed table where there are files already, and a table that a query creates has its files
   * first.
   */
  static void makeManaged(Identifier identifier) throws AnalysisException {
    catalog().alterTable(managed(catalog().getTableMetadata(of(identifier))));
  }

  /** Replaces the declared columns of a table. */
  static void setColumns(Identifier identifier, StructType columns) throws AnalysisException {
    TableIdentifier table = catalog().getTableMetadata(of(identifier)).identifier();
    catalog()
        .externalCatalog()
        .alterTableDataSchema(table.database().get(), table.table(), columns);
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

  /** Copies all members except the type. The number of members differs between releases. */
  private static CatalogTable managed(CatalogTable table) {
    Object[] members = new Object[table.productArity()];
    for (int i = 0; i < members.length; i++) {
      Object member = table.productElement(i);
      members[i] = member instanceof CatalogTableType ? CatalogTableType.MANAGED() : member;
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
