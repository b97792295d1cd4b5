package io.zrecord.spark.path;

import io.zrecord.storage.Storage;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
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
   * @param session the session that knows the name; sessions share what is cached
   */
  private record Loaded(String path, Version version, WeakReference<SparkSession> session) {
    /** Tells whether another load of the same name found something else that is not older. */
    boolean isOvertakenBy(Loaded other) {
      return !(path.equals(other.path) && version.equals(other.version))
          && !other.version.isOlderThan(version);
    }
  }

  /**
   * A version of the records of a table.
   *
   * @param table identity of the table
   * @param number number of the version
   * @param id a name that no other version has
   */
  public record Version(String table, long number, String id) {
    /** No version: there is no dataset yet. */
    public static final Version NONE = new Version("", 0, "");

    boolean isOlderThan(Version other) {
      return table.equals(other.table) && number < other.number;
    }
  }

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
   * Refreshes what is cached under the name of a table that has become another one. A load that
   * arrives after a load of a newer version changes nothing, unless the newer version is gone
   * because a backup of the table was put in its place.
   *
   * @param version the version that was loaded
   * @param newest looks for the newest version at the path once more
   */
  public static void loaded(
      String catalog,
      Identifier identifier,
      Table table,
      String path,
      Version version,
      Supplier<Version> newest) {
    if (!ARE_SUPPORTED) {
      return;
    }
    String name = quoted(catalog, identifier);
    Loaded now = new Loaded(path, version, new WeakReference<>(SparkSession.active()));
    Loaded before;
    synchronized (LOADED) {
      before = LOADED.get(name);
      if (before == null || !now.version().isOlderThan(before.version())) {
        LOADED.put(name, now);
      }
    }
    if (before == null) {
      return;
    }
    boolean isRestored =
        now.version().isOlderThan(before.version()) && isGone(before.version(), newest);
    if (isRestored) {
      synchronized (LOADED) {
        LOADED.replace(name, before, now);
      }
    }
    if (isRestored || before.isOvertakenBy(now)) {
      REFRESHED.get().put(name, table);
      try {
        refresh(name, now);
      } finally {
        REFRESHED.get().remove(name);
      }
      refreshIfOvertaken(name, now);
    }
  }

  /**
   * Tells whether a version that was the newest is none any more. Numbers of versions only rise.
   */
  private static boolean isGone(Version version, Supplier<Version> newest) {
    try {
      return newest.get().isOlderThan(version);
    } catch (RuntimeException e) {
      return false; // The next load says what is wrong.
    }
  }

  /** Repeats a refresh if another thread has found a newer version meanwhile. */
  private static void refreshIfOvertaken(String name, Loaded refreshed) {
    Loaded newest;
    synchronized (LOADED) {
      newest = LOADED.get(name);
    }
    if (newest != null && refreshed.isOvertakenBy(newest)) {
      refresh(name, newest);
    }
  }

  /** Refreshes what is cached of a table that has a new version. Never fails. */
  public static void committed(Storage table) {
    if (!ARE_SUPPORTED) {
      return;
    }
    String path = SparkStorages.normalized(table);
    List<Map.Entry<String, Loaded>> names;
    synchronized (LOADED) {
      names = LOADED.entrySet().stream()
          .filter(known -> known.getValue().path().equals(path))
          .map(known -> Map.entry(known.getKey(), known.getValue()))
          .toList();
    }
    names.forEach(known -> refresh(known.getKey(), known.getValue()));
  }

  /**
   * Refreshes what is cached under a name, which may be that of a table that was dropped or
   * renamed. Uses the session that loaded the table, whose settings say what the name means, unless
   * that session is gone. Never fails: the commit or the read does not depend on it.
   */
  private static void refresh(String name, Loaded known) {
    try {
      SparkSession session = known.session().get();
      SparkSession current = SparkSession.active();
      if (!isAnythingCached(current)) {
        return;
      }
      (session == null || session.sparkContext() != current.sparkContext() ? current : session)
          .sql("refresh table " + name);
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare.
      synchronized (LOADED) {
        LOADED.remove(name);
      }
      LoggerFactory.getLogger(Reloads.class)
          .warn("What is cached of {} may be old; run: refresh table {}", known.path(), name, e);
    }
  }

  private static boolean isAnythingCached(SparkSession session) {
    return !session.sharedState().cacheManager().isEmpty();
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
