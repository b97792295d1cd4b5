package io.zrecord.spark.warehouse;

import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.warehouse.Namespace;
import io.zrecord.warehouse.Warehouse;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.jspecify.annotations.Nullable;

/** The namespaces of a warehouse, as Spark asks for them. Thread-safe. */
public final class WarehouseNamespaces {
  private final WarehouseNames names;

  /** Returns the namespaces of the warehouse that has the names. */
  public WarehouseNamespaces(WarehouseNames names) {
    this.names = names;
  }

  /**
   * Returns the namespaces of a namespace, or of the warehouse.
   *
   * @throws NoSuchNamespaceException if the namespace does not exist
   */
  public String[][] list(String... levels) throws NoSuchNamespaceException {
    Namespace parent = WarehouseNames.namespace(levels);
    if (levels.length > 0 && !exists(levels)) {
      throw new NoSuchNamespaceException(levels);
    }
    return SparkErrors.planned(() -> names.warehouse().namespaces(parent)).stream()
        .map(namespace -> namespace.levels().toArray(String[]::new))
        .toArray(String[][]::new);
  }

  /** Tells whether a namespace exists. A name that no namespace can have does not exist. */
  public boolean exists(String[] levels) {
    Namespace namespace;
    try {
      namespace = WarehouseNames.namespace(levels);
    } catch (IllegalArgumentException e) {
      return false;
    }
    return SparkErrors.planned(() -> names.warehouse().exists(namespace));
  }

  /**
   * Returns the properties of a namespace, its location among them.
   *
   * @throws NoSuchNamespaceException if the namespace does not exist
   */
  public Map<String, String> load(String[] levels) throws NoSuchNamespaceException {
    Namespace namespace = WarehouseNames.namespace(levels);
    Optional<SortedMap<String, String>> found =
        SparkErrors.planned(() -> names.warehouse().find(namespace));
    Map<String, String> properties =
        new TreeMap<>(found.orElseThrow(() -> new NoSuchNamespaceException(levels)));
    properties.remove(TableProperties.COLLATION);
    properties.put(SupportsNamespaces.PROP_LOCATION, names.locationOf(namespace));
    return properties;
  }

  /**
   * Creates a namespace. The namespace around it exists from then on.
   *
   * @throws NamespaceAlreadyExistsException if the namespace exists, or a table has the name
   */
  public void create(String[] levels, Map<String, String> metadata)
      throws NamespaceAlreadyExistsException {
    Namespace namespace = requireName(levels, "creating");
    refuseLocation(namespace, metadata.get(SupportsNamespaces.PROP_LOCATION));
    StorageSettings.refuseToKeep(metadata);
    Map<String, String> properties = new HashMap<>(metadata);
    properties.remove(SupportsNamespaces.PROP_LOCATION);
    String collation = properties.remove(TableProperties.COLLATION);
    if (collation != null) {
      requireBinary(namespace, collation);
    }
    if (!SparkErrors.planned(() -> names.warehouse().create(namespace, properties))) {
      throw new NamespaceAlreadyExistsException(levels);
    }
  }

  /**
   * Changes properties of a namespace.
   *
   * @throws NoSuchNamespaceException if the namespace does not exist
   */
  public void alter(String[] levels, NamespaceChange... changes) throws NoSuchNamespaceException {
    Namespace namespace = WarehouseNames.namespace(levels);
    Map<String, @Nullable String> properties = new HashMap<>();
    Map<String, String> kept = new HashMap<>();
    for (NamespaceChange change : changes) {
      if (change instanceof NamespaceChange.SetProperty set) {
        if (set.property().equals(SupportsNamespaces.PROP_LOCATION)) {
          refuseLocation(namespace, set.value());
        } else if (set.property().equals(TableProperties.COLLATION)) {
          requireBinary(namespace, set.value());
          properties.put(set.property(), null);
        } else {
          properties.put(set.property(), set.value());
          kept.put(set.property(), set.value());
        }
      } else if (change instanceof NamespaceChange.RemoveProperty remove) {
        properties.put(remove.property(), null);
      } else {
        throw Unsupported.operation(
            "the change " + change.getClass().getSimpleName() + " of a namespace",
            "change properties");
      }
    }
    StorageSettings.refuseToKeep(kept);
    if (!SparkErrors.planned(() -> names.warehouse().alter(namespace, properties))) {
      throw new NoSuchNamespaceException(levels);
    }
  }

  /** Refuses the warehouse itself: the name of a catalog is easily taken for a database. */
  private Namespace requireName(String[] levels, String what) {
    if (levels.length == 0) {
      throw Unsupported.operation(
          what + " " + names.catalog() + ", which is a catalog and not a namespace",
          "name a namespace, such as " + names.catalog() + ".vision");
    }
    return WarehouseNames.namespace(levels);
  }

  private void requireBinary(Namespace namespace, String collation) {
    TableProperties.requireBinary("the namespace " + names.catalog() + "." + namespace, collation);
  }

  private void refuseLocation(Namespace namespace, @Nullable String location) {
    String own = names.locationOf(namespace);
    if (location != null && !names.isSamePlace(location, own)) {
      throw Unsupported.operation(
          "the location " + location + " of the namespace " + names.catalog() + "." + namespace
              + ", which is at " + own,
          "leave LOCATION out");
    }
  }

  /**
   * Drops a namespace.
   *
   * @param drop drops a table of the namespace, or of one within it
   * @return false if there is no such namespace
   * @throws NonEmptyNamespaceException if there are tables or namespaces in the namespace, and they
   *     are not to be dropped as well
   */
  public boolean drop(String[] levels, boolean isCascading, Consumer<Identifier> drop)
      throws NoSuchNamespaceException, NonEmptyNamespaceException {
    Namespace namespace = requireName(levels, "dropping");
    if (isCascading && exists(levels)) {
      for (Identifier table : names.tables(levels)) {
        drop.accept(table);
      }
      for (String[] within : list(levels)) {
        drop(within, true, drop);
      }
    }
    Warehouse.Drop dropped = SparkErrors.planned(() -> names.warehouse().drop(namespace));
    if (dropped == Warehouse.Drop.NOT_EMPTY) {
      throw new NonEmptyNamespaceException(levels);
    }
    return dropped == Warehouse.Drop.DROPPED;
  }
}
