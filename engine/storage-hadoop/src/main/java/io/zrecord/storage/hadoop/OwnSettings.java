package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;

/**
 * Settings that one read or write has for itself. Hadoop keeps a file system for each authority and
 * user, whatever the settings, so settings of one read would be ignored if another read came first.
 * File systems with own settings are therefore kept here, for each authority, user and settings.
 * Thread-safe.
 */
public final class OwnSettings {
  /** The setting that names the own settings, one a line. Travels with them to tasks. */
  private static final String NAMES = "zrecord.settings.own";

  private static final String SEPARATOR = "\n";

  /**
   * Most file systems that are kept. A file system that is dropped is not closed, because readers
   * may have it; its threads end when they are idle.
   */
  private static final int MAX_KEPT = 64;

  private static final Map<Key, FileSystems.Opening> KEPT = new LinkedHashMap<>(16, 0.75f, true) {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<Key, FileSystems.Opening> eldest) {
      return size() > MAX_KEPT;
    }
  };

  private OwnSettings() {}

  /** The file systems of one user at one authority. Shows no setting. */
  private record Key(
      @Nullable String scheme,
      @Nullable String authority,
      List<String> settings,
      UserGroupInformation user) {
    @Override
    public String toString() {
      return scheme + "://" + authority;
    }
  }

  /**
   * Returns settings with own settings added. A storage that is made with the result shares no file
   * system with a storage of other settings.
   *
   * @param settings not changed; returned if there is nothing to add
   */
  public static Configuration added(Configuration settings, Map<String, String> own) {
    if (own.isEmpty()) {
      return settings;
    }
    Configuration all = new Configuration(settings);
    own.forEach(all::set);
    all.set(NAMES, String.join(SEPARATOR, new TreeMap<>(own).keySet()));
    return all;
  }

  /** Tells whether there are own settings among settings. */
  static boolean areIn(Configuration settings) {
    return settings.getRaw(NAMES) != null;
  }

  /** Returns the file system of a path for settings with own settings among them. */
  static FileSystem fileSystem(Path path, Configuration settings) throws IOException {
    String names = Objects.requireNonNull(settings.getRaw(NAMES));
    URI uri = path.toUri().getScheme() == null ? FileSystem.getDefaultUri(settings) : path.toUri();
    List<String> values = new ArrayList<>();
    for (String name : names.split(SEPARATOR, -1)) {
      values.add(name);
      values.add(Objects.requireNonNullElse(settings.getRaw(name), ""));
    }
    Key key =
        new Key(uri.getScheme(), uri.getAuthority(), values, UserGroupInformation.getCurrentUser());
    FileSystems.Opening kept;
    synchronized (KEPT) {
      kept = KEPT.computeIfAbsent(key, unknown -> new FileSystems.Opening());
    }
    return kept.get(() -> {
      Configuration unshared = FileSystems.tuned(settings);
      unshared.setBoolean("fs." + uri.getScheme() + ".impl.disable.cache", true);
      return FileSystem.get(uri, unshared);
    });
  }
}
