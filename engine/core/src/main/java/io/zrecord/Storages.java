package io.zrecord;

import io.zrecord.internal.dataset.Providers;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageProvider;
import io.zrecord.storage.cache.CacheSettings;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Opens the storage of a dataset by its location. A location is a path on a local file system, or a
 * URI that is not encoded: {@code file:} is local, and each other scheme belongs to a
 * {@link StorageProvider} on the class path. Thread-safe.
 */
public final class Storages {
  private static final String LOCAL = "file";

  private Storages() {}

  /** Opens the storage at a location, as {@link #at(String, Map)} does, without options. */
  public static Storage at(String location) {
    return at(location, Map.of());
  }

  /**
   * Opens the storage at a location, which need not exist.
   *
   * @param location a path, or a URI such as {@code s3://bucket/train}
   * @param options settings of the storage, by name, and those of {@link CacheSettings}. A local
   *     storage has none
   * @throws IllegalArgumentException if no provider knows the scheme, or an option is not known
   * @throws io.zrecord.errors.StorageException if the storage cannot be reached
   */
  public static Storage at(String location, Map<String, String> options) {
    Optional<Path> local = localPath(location);
    if (local.isEmpty()) {
      return CacheSettings.of(options)
          .of(provider(location).open(location, CacheSettings.without(options)));
    }
    if (!options.isEmpty()) {
      throw new IllegalArgumentException("A local storage has no option '"
          + new TreeSet<>(options.keySet()).first() + "'; leave it out for " + location);
    }
    return LocalStorage.at(local.get());
  }

  /** Returns the path of a location; empty if the location is not on a local file system. */
  public static Optional<Path> localPath(String location) {
    String scheme = scheme(location);
    if (scheme.isEmpty()) {
      return Optional.of(Path.of(location));
    }
    // Not decoded: a percent sign is a percent sign.
    return scheme.equals(LOCAL)
        ? Optional.of(Path.of(location.substring(LOCAL.length() + 1).replaceFirst("^//+(?=/)", "")))
        : Optional.empty();
  }

  /** Returns the scheme of a location in lower case; empty if the location is a path. */
  private static String scheme(String location) {
    int colon = location.indexOf(':');
    // One letter before the colon is a drive of Windows. A slash before the colon belongs to a
    // name.
    return colon <= 1 || location.substring(0, colon).indexOf('/') >= 0
        ? ""
        : location.substring(0, colon).toLowerCase(Locale.ROOT);
  }

  private static StorageProvider provider(String location) {
    String scheme = scheme(location);
    TreeSet<String> known = new TreeSet<>(List.of(LOCAL));
    List<StorageProvider> others = new ArrayList<>();
    for (StorageProvider provider : Providers.of(StorageProvider.class)) {
      if (provider.schemes().contains(scheme)) {
        return provider;
      }
      known.addAll(provider.schemes());
      if (provider.schemes().isEmpty()) {
        others.add(provider);
      }
    }
    if (others.isEmpty()) {
      throw new IllegalArgumentException("Cannot open " + location + ": no storage on the class"
          + " path knows the scheme '" + scheme + "'; known are " + String.join(", ", known)
          + ". Add zrecord-storage-s3 for s3, and zrecord-storage-hadoop with Hadoop for others;"
          + " a local path with a colon begins with ./ or /");
    }
    return others.get(0);
  }
}
