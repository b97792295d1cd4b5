package io.zrecord.spark.warehouse;

import io.zrecord.spark.options.CatalogOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.warehouse.Namespace;
import io.zrecord.warehouse.Warehouse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * Finds the tables of a catalog's warehouse by their names. Asks the storage each time, and keeps
 * nothing. Thread-safe.
 */
public final class WarehouseNames {
  private final String catalog;
  private final String location;
  private final Map<String, String> settings;

  private WarehouseNames(String catalog, String location, Map<String, String> settings) {
    this.catalog = catalog;
    this.location = location;
    this.settings = settings;
  }

  /** Returns the names of a catalog; empty if the catalog has no warehouse. */
  public static Optional<WarehouseNames> of(String catalog, CatalogOptions options) {
    return options
        .warehouse()
        .map(location -> new WarehouseNames(catalog, location, options.settings()));
  }

  /** Returns the name of the catalog. */
  String catalog() {
    return catalog;
  }

  /** Returns where a namespace is. */
  String locationOf(Namespace namespace) {
    return namespace.isRoot() ? location : below(String.join("/", namespace.levels()));
  }

  /** Tells whether two paths name the same directory. */
  boolean isSamePlace(String path, String other) {
    return DatasetPath.of(path, settings).isSamePlaceAs(DatasetPath.of(other, settings));
  }

  /** Returns the warehouse, with the settings that the session has now. */
  Warehouse warehouse() {
    return Warehouse.of(
        SparkStorages.storageFor(location, settings),
        path -> SparkStorages.storageFor(below(path), settings));
  }

  private String below(String path) {
    return location.endsWith("/") ? location + path : location + "/" + path;
  }

  /**
   * Returns where a table is, whether there is one or not.
   *
   * @throws IllegalArgumentException if the name, or that of a namespace, is not allowed
   */
  public ReadPaths place(Identifier identifier) {
    Namespace namespace = namespace(identifier.namespace());
    return ReadPaths.ofTable(
        quoted(identifier.namespace(), identifier.name()),
        below(namespace.pathOfTable(identifier.name())),
        settings);
  }

  /** Returns where a table is; empty if no table can have the name. */
  public Optional<ReadPaths> find(Identifier identifier) {
    try {
      return Optional.of(place(identifier));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Requires that a table may be created: its namespace exists, and no namespace has its name.
   *
   * @throws NoSuchNamespaceException if the namespace does not exist
   * @throws IllegalArgumentException if there is a namespace of the name
   */
  public void requireCreatable(Identifier identifier) throws NoSuchNamespaceException {
    Namespace namespace = namespace(identifier.namespace());
    requireExists(namespace);
    if (namespace.levels().size() == Namespace.MOST_LEVELS) {
      return;
    }
    Namespace taken = namespace.child(identifier.name());
    if (SparkErrors.planned(() -> warehouse().exists(taken))) {
      throw new IllegalArgumentException("Cannot create the table " + place(identifier)
          + ": there is a namespace of that name; choose another name");
    }
  }

  /**
   * Returns the tables of a namespace.
   *
   * @throws NoSuchNamespaceException if the namespace does not exist
   */
  public Identifier[] tables(String[] levels) throws NoSuchNamespaceException {
    Namespace namespace = requireExists(namespace(levels));
    return SparkErrors.planned(() -> warehouse().tables(namespace)).stream()
        .map(name -> Identifier.of(levels, name))
        .toArray(Identifier[]::new);
  }

  private Namespace requireExists(Namespace namespace) throws NoSuchNamespaceException {
    if (!namespace.isRoot() && !SparkErrors.planned(() -> warehouse().exists(namespace))) {
      throw new NoSuchNamespaceException(namespace.levels().toArray(String[]::new));
    }
    return namespace;
  }

  static Namespace namespace(String[] levels) {
    return new Namespace(List.of(levels));
  }

  /** Returns a name as a statement has it. */
  private String quoted(String[] namespace, String name) {
    StringBuilder quoted = new StringBuilder(quoted(catalog));
    for (String level : namespace) {
      quoted.append('.').append(quoted(level));
    }
    return quoted.append('.').append(quoted(name)).toString();
  }

  private static String quoted(String name) {
    return name.matches("[A-Za-z_][A-Za-z0-9_]*") ? name : "`" + name.replace("`", "``") + "`";
  }
}
