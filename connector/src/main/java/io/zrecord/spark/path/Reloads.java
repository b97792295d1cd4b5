package io.zrecord.spark.path;

import io.zrecord.storage.Storage;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Keeps what Spark caches of a table as new as the table. Spark loads a table that has a version
 * again before each query, from 4.1 on. It then takes a cached table for every table of the same
 * name and id, and notices no commit that went another way: by another name of the table, or by
 * another process. So a commit refreshes what is cached under each name of the table, and so does
 * the first statement that finds a newer version under a name than the statement before.
 * Thread-safe; on the driver.
 */
public final class Reloads {
  private static final boolean ARE_SUPPORTED = Arrays.stream(Table.class.getMethods())
      .anyMatch(method -> method.getName().equals("version"));

  /** Most names that are known at once. The least recently loaded names are forgotten. */
  private static final int MAX_KNOWN = 10_000;

  /** Each table when it was last loaded, by its name. */
  private static final Map<String, Loaded> LOADED = new LinkedHashMap<>(16, 0.75f, true) {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Loaded> eldest) {
      return size() > MAX_KNOWN;
    }
  };

  /** The table that this thread refreshes, by its name. */
  private static final ThreadLocal<Map<String, Table>> REFRESHED =
      ThreadLocal.withInitial(HashMap::new);

  /**
   * A table when it was loaded.
   *
   * @param path the one form of the path that all spellings have in common
   */
  private record Loaded(String path, String version) {}

  private Reloads() {}

  /** Tells whether this release of Spark loads tables again. */
  public static boolean areSupported() {
    return ARE_SUPPORTED;
  }

  /** Returns the table that this thread refreshes under the name, so that it is loaded once. */
  public static @Nullable Table refreshed(String catalog, Identifier identifier) {
    return REFRESHED.get().get(quoted(catalog, identifier));
  }

  /**
   * Refreshes what is cached under the name of a table that has become newer.
   *
   * @param version null if Spark does not load the table again
   */
  public static void loaded(
      String catalog, Identifier identifier, Table table, String path, @Nullable String version) {
    if (!ARE_SUPPORTED || version == null) {
      return;
    }
    String name = quoted(catalog, identifier);
    Loaded now = new Loaded(path, version);
    Loaded before;
    synchronized (LOADED) {
      before = LOADED.put(name, now);
    }
    if (before != null && !before.equals(now)) {
      REFRESHED.get().put(name, table);
      try {
        refresh(name, path);
      } finally {
        REFRESHED.get().remove(name);
      }
    }
  }

  /** Refreshes what is cached of a table that has a new version. Never fails. */
  public static void committed(Storage table) {
    if (!ARE_SUPPORTED) {
      return;
    }
    String path = SparkStorages.normalized(table);
    List<String> names;
    synchronized (LOADED) {
      names = LOADED.entrySet().stream()
          .filter(known -> known.getValue().path().equals(path))
          .map(Map.Entry::getKey)
          .toList();
    }
    names.forEach(name -> refresh(name, path));
  }

  /**
   * Refreshes what is cached under a name, which may be that of a table that was dropped or
   * renamed, or of another session. Never fails: the commit or the read does not depend on it.
   */
  private static void refresh(String name, String path) {
    try {
      if (isAnythingCached()) {
        SparkSession.active().sql("refresh table " + name);
      }
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare.
      synchronized (LOADED) {
        LOADED.remove(name);
      }
      LoggerFactory.getLogger(Reloads.class)
          .warn("What is cached of {} may be old; run: refresh table {}", path, name, e);
    }
  }

  private static boolean isAnythingCached() {
    return !SparkSession.active().sharedState().cacheManager().isEmpty();
  }

  private static String quoted(String catalog, Identifier identifier) {
    StringBuilder name = new StringBuilder(quoted(catalog));
    for (String part : identifier.namespace()) {
      name.append('.').append(quoted(part));
    }
    return name.append('.').append(quoted(identifier.name())).toString();
  }

  private static String quoted(String part) {
    return "`" + part.replace("`", "``") + "`";
  }
}
