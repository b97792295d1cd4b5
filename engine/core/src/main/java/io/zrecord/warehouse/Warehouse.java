package io.zrecord.warehouse;

import io.zrecord.DatasetKind;
import io.zrecord.Storages;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A directory of tables and namespaces (FORMAT.md section 23). A table is at
 * {@code warehouse/<namespace>/…/<table>}, whoever wrote the table there, and nothing else says
 * where a table is. So a table cannot be renamed. Reads files for each answer, and keeps nothing.
 *
 * <pre>{@code
 * Warehouse lake = Warehouse.at("s3://bucket/lake");
 * lake.create(Namespace.of("vision"), Map.of("comment", "photos and their labels"));
 * RecordTable photos = RecordTable.at(lake.place(Namespace.of("vision"), "photos"));
 * }</pre>
 *
 * <p>A namespace exists from its creation until it is dropped, and for as long as there is a table
 * or a namespace in its directory, where 1,000 directories are looked at. A directory with a table
 * or a store is no namespace.
 *
 * <p>Damage is a {@link io.zrecord.errors.CorruptDataException}, and a storage that fails a
 * {@link io.zrecord.errors.StorageException}. Thread-safe.
 */
public final class Warehouse {
  private final Storage root;
  private final Function<String, Storage> places;
  private final InstantSource clock;
  private final ChildSearch children;

  private Warehouse(Storage root, Function<String, Storage> places, InstantSource clock) {
    this.root = root;
    this.places = places;
    this.clock = clock;
    this.children = new ChildSearch(root, this::hasTable);
  }

  /**
   * Returns the warehouse at a location, which need not exist.
   *
   * @param location a local path, or a URI of a storage on the class path, see {@link Storages}
   */
  public static Warehouse at(String location) {
    String base = location.endsWith("/") ? location : location + "/";
    return of(Storages.at(location), path -> Storages.at(base + path));
  }

  /**
   * Returns the warehouse at the root of a storage.
   *
   * @param places returns the storage whose root is a directory below, given the path of the
   *     directory relative to the warehouse
   */
  public static Warehouse of(Storage root, Function<String, Storage> places) {
    return new Warehouse(root, places, InstantSource.system());
  }

  /** Returns where the warehouse is. */
  public String location() {
    return root.location();
  }

  /**
   * Returns the storage of a table, which need not exist.
   *
   * @throws IllegalArgumentException if the name is not allowed
   */
  public Storage place(Namespace namespace, String table) {
    return places.apply(namespace.pathOfTable(table));
  }

  /** Tells whether there is a table, or a store that is written online, damaged or not. */
  public boolean hasTable(Namespace namespace, String table) {
    return isDataset(place(namespace, table));
  }

  /** Stores are local. */
  private static boolean isDataset(Storage place) {
    return RecordTable.at(place).exists()
        || (!place.isRemote() && DatasetKind.find(place).equals(Optional.of(DatasetKind.STORE)));
  }

  /** Returns the names of the tables and stores of a namespace, in order. */
  public List<String> tables(Namespace namespace) {
    return those(namespace, name -> hasTable(namespace, name));
  }

  /** Returns the namespaces of a namespace, in order. */
  public List<Namespace> namespaces(Namespace parent) {
    if (parent.levels().size() == Namespace.MOST_LEVELS) {
      return List.of();
    }
    return those(parent, name -> exists(parent.child(name))).stream()
        .map(parent::child)
        .toList();
  }

  /** Returns the names of those directories of a namespace for which a look says so. */
  private List<String> those(Namespace namespace, Function<String, Boolean> look) {
    List<String> found = Collections.synchronizedList(new ArrayList<>());
    Requests.forEach(root, ChildSearch.names(root, namespace), name -> {
      if (look.apply(name)) {
        found.add(name);
      }
    });
    return found.stream().sorted().toList();
  }

  /** Tells whether a namespace exists, also if its properties are damaged. */
  public boolean exists(Namespace namespace) {
    return namespace.isRoot()
        || (!isTable(namespace) && (log(namespace).exists() || children.finds(namespace)));
  }

  /** Returns the properties of a namespace; empty if there is no such namespace. */
  public Optional<SortedMap<String, String>> find(Namespace namespace) {
    if (isTable(namespace)) {
      return Optional.empty();
    }
    Optional<SortedMap<String, String>> properties =
        log(namespace).newest().map(NamespaceVersion::properties);
    return properties.isPresent() || isThereWithoutState(namespace)
        ? Optional.of(properties.orElseGet(TreeMap::new))
        : Optional.empty();
  }

  private boolean isThereWithoutState(Namespace namespace) {
    return namespace.isRoot() || children.finds(namespace);
  }

  private NamespaceLog log(Namespace namespace) {
    return new NamespaceLog(root, namespace);
  }

  /**
   * Creates a namespace. Namespaces above need not exist. A namespace that exists only by what is
   * in its directory gets the properties, and stays when that is gone.
   *
   * @param properties at most 1,000 strings by names of 1 to 1,024 units
   * @return {@code false} if the namespace exists, or there is a table of the name
   * @throws IllegalArgumentException if the properties are too many or too long
   */
  public boolean create(Namespace namespace, Map<String, String> properties) {
    NamespaceProperties.require(properties);
    if (namespace.isRoot() || isTable(namespace) || log(namespace).exists()) {
      return false;
    }
    boolean isThere = children.finds(namespace);
    return log(namespace)
            .publish(found -> found.isPresent()
                ? Optional.empty()
                : Optional.of(NamespaceVersion.first(clock.millis(), properties)))
            .isPresent()
        && !isThere
        // Whoever has created a table meanwhile has the name.
        && !isTable(namespace);
  }

  private boolean isTable(Namespace namespace) {
    return !namespace.isRoot() && isDataset(places.apply(namespace.directory()));
  }

  /**
   * Changes properties of a namespace. Changes of two programs take effect one after the other.
   *
   * @param changes the new value of each property; null if there is none from now on
   * @return {@code false} if there is no such namespace
   * @throws IllegalArgumentException if there are too many properties afterwards, or one is too
   *     long
   */
  public boolean alter(Namespace namespace, Map<String, @Nullable String> changes) {
    if (isTable(namespace)) {
      return false;
    }
    return log(namespace)
        .publish(found -> {
          if (found.isEmpty() && !isThereWithoutState(namespace)) {
            return Optional.empty();
          }
          Map<String, String> properties =
              new TreeMap<>(found.map(NamespaceVersion::properties).orElseGet(TreeMap::new));
          changes.forEach((name, value) -> {
            if (value == null) {
              properties.remove(name);
            } else {
              properties.put(name, value);
            }
          });
          NamespaceProperties.require(properties);
          return Optional.of(found
              .map(state -> state.next(clock.millis(), properties))
              .orElseGet(() -> NamespaceVersion.first(clock.millis(), properties)));
        })
        .isPresent();
  }

  /** Says what became of a namespace that was to be dropped. */
  public enum Drop {
    DROPPED,
    /** There is no such namespace. */
    MISSING,
    /** There are tables or namespaces in the namespace. Nothing was changed. */
    NOT_EMPTY
  }

  /**
   * Drops a namespace without tables and namespaces. Files of anything else stay. The warehouse
   * itself loses its properties, and exists. A table that another program creates meanwhile brings
   * the namespace back, without its properties.
   */
  public Drop drop(Namespace namespace) {
    if (!exists(namespace)) {
      return Drop.MISSING;
    }
    if (children.finds(namespace)) {
      return Drop.NOT_EMPTY;
    }
    log(namespace).drop(clock.millis());
    return Drop.DROPPED;
  }
}
