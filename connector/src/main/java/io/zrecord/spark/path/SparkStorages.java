package io.zrecord.spark.path;

import io.zrecord.RecordStore;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** Maps a path as Spark users write it to its storage. */
public final class SparkStorages {
  private SparkStorages() {}

  /**
   * Returns the storage of a dataset.
   *
   * @param path a local path, or a URI with the scheme {@code file}
   * @throws IllegalArgumentException if the URI has another scheme
   */
  public static Storage storageFor(String path) {
    return LocalStorage.at(localPath(path));
  }

  /**
   * Returns the directory of a store that is written online; empty if there is none at the path.
   */
  public static Optional<Path> storeAt(String path) {
    return Optional.of(localPath(path)).filter(RecordStore::exists);
  }

  /**
   * Tells whether a storage is at the place of another storage, or below it as a snapshot of a
   * store is.
   */
  public static boolean isWithin(Storage storage, Storage other) {
    return realPath(storage).startsWith(realPath(other));
  }

  private static Path realPath(Storage storage) {
    Path path = Path.of(storage.location());
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }

  /** Returns the one form that all spellings of a path have in common. */
  static String normalized(String path) {
    return localPath(path).normalize().toString();
  }

  private static Path localPath(String path) {
    int colon = path.indexOf(':');
    // One letter before the colon is a drive of Windows. A slash before the colon belongs to a
    // name.
    if (colon <= 1 || path.substring(0, colon).indexOf('/') >= 0) {
      return Path.of(path).toAbsolutePath();
    }
    String scheme = path.substring(0, colon).toLowerCase(Locale.ROOT);
    if (!scheme.equals("file")) {
      throw new IllegalArgumentException("Cannot use " + path
          + ": zrecord datasets are on local file systems for now, and " + "the scheme is '"
          + scheme + "'; use a path such as /data/train or file:/data/train");
    }
    // Not decoded: Spark does not encode paths, so a percent sign is a percent sign.
    return Path.of(path.substring(colon + 1).replaceFirst("^//+(?=/)", ""));
  }
}
