package io.zrecord.spark;

import io.zrecord.RecordStore;
import io.zrecord.storage.LocalStorage;
import io.zrecord.storage.Storage;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** From a path as Spark users write it to the storage behind it. */
final class SparkStorages {
  private SparkStorages() {}

  /**
   * The storage of a dataset.
   *
   * @param path a local path, or a URI with the scheme {@code file}
   * @throws IllegalArgumentException if the scheme is another
   */
  static Storage storageFor(String path) {
    return LocalStorage.at(localPath(path));
  }

  /** The directory of a store that is written online; empty if there is none at the path. */
  static Optional<Path> storeAt(String path) {
    return Optional.of(localPath(path)).filter(RecordStore::exists);
  }

  private static Path localPath(String path) {
    int colon = path.indexOf(':');
    // One letter before the colon is a drive of Windows; a slash before it belongs to a name.
    if (colon <= 1 || path.substring(0, colon).indexOf('/') >= 0) {
      return Path.of(path).toAbsolutePath();
    }
    String scheme = path.substring(0, colon).toLowerCase(Locale.ROOT);
    if (!scheme.equals("file")) {
      throw new IllegalArgumentException("Cannot use " + path
          + ": zrecord datasets are on local file systems for now, and " + "the scheme is '"
          + scheme + "'; use a path such as /data/train or file:/data/train");
    }
    // As it stands: Spark does not encode paths, so that a percent sign is a percent sign.
    return Path.of(path.substring(colon + 1).replaceFirst("^//+(?=/)", ""));
  }
}
