package io.zrecord.warehouse;

import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiPredicate;

/**
 * Looks for a table or a namespace in the directory of a namespace, level by level, and in the
 * order of the names. The directories may be those of anything else, so the search has an end.
 * Immutable.
 */
final class ChildSearch {
  /** How deep a table may be below directories that nobody has created as namespaces. */
  private static final int MOST_LEVELS = 4;

  /** Directories that are looked at. */
  private static final int MOST_LOOKS = 1000;

  private final Storage root;
  private final BiPredicate<Namespace, String> hasTable;

  /** A directory that may be a table or a namespace. */
  private record Entry(Namespace parent, String name) {
    boolean mayBeNamespace() {
      return parent.levels().size() < Namespace.MOST_LEVELS;
    }

    Namespace namespace() {
      return parent.child(name);
    }
  }

  ChildSearch(Storage root, BiPredicate<Namespace, String> hasTable) {
    this.root = root;
    this.hasTable = hasTable;
  }

  /** Tells whether there is a table or a namespace in the directory of a namespace. */
  boolean finds(Namespace namespace) {
    List<Namespace> level = List.of(namespace);
    int looks = MOST_LOOKS;
    for (int depth = 0; depth < MOST_LEVELS; depth++) {
      List<Entry> entries = entries(level, looks);
      if (anyExists(entries)) {
        return true;
      }
      looks -= entries.size();
      level =
          entries.stream().filter(Entry::mayBeNamespace).map(Entry::namespace).toList();
    }
    return false;
  }

  /** Returns the first directories of namespaces. */
  private List<Entry> entries(List<Namespace> namespaces, int most) {
    List<Entry> found = new ArrayList<>();
    for (List<Namespace> group : groups(namespaces)) {
      if (found.size() >= most) {
        break;
      }
      Map<Namespace, List<String>> names = new ConcurrentHashMap<>();
      Requests.forEach(root, group, namespace -> names.put(namespace, names(root, namespace)));
      for (Namespace namespace : group) {
        names
            .getOrDefault(namespace, List.of())
            .forEach(name -> found.add(new Entry(namespace, name)));
      }
    }
    return List.copyOf(found.subList(0, Math.min(found.size(), most)));
  }

  /** Returns the names of directories in that of a namespace that may be tables or namespaces. */
  static List<String> names(Storage root, Namespace namespace) {
    return root.list(namespace.directory()).stream()
        .filter(StoredFile::isDirectory)
        .map(StoredFile::name)
        .filter(EntryName::isAllowed)
        .sorted()
        .toList();
  }

  private boolean anyExists(List<Entry> entries) {
    AtomicBoolean exists = new AtomicBoolean();
    for (List<Entry> group : groups(entries)) {
      Requests.forEach(root, group, entry -> {
        if (exists(entry)) {
          exists.set(true);
        }
      });
      if (exists.get()) {
        return true;
      }
    }
    return false;
  }

  private boolean exists(Entry entry) {
    return hasTable.test(entry.parent, entry.name)
        || (entry.mayBeNamespace() && new NamespaceLog(root, entry.namespace()).exists());
  }

  /** Divides items into those that are asked for at a time. */
  private <T> List<List<T>> groups(List<T> items) {
    int atOnce = root.requestsAtOnce();
    List<List<T>> groups = new ArrayList<>();
    for (int from = 0; from < items.size(); from += atOnce) {
      groups.add(items.subList(from, Math.min(items.size(), from + atOnce)));
    }
    return groups;
  }
}
