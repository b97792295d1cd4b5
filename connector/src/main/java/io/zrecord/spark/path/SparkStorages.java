package io.zrecord.spark.path;

import io.zrecord.RecordStore;
import io.zrecord.storage.Storage;
import io.zrecord.storage.hadoop.HadoopStorage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.sql.SparkSession;

/**
 * Maps a path as Spark users write it to its storage, on the driver. A path without a scheme is on
 * the default file system of Hadoop ({@code fs.defaultFS}), as for every other data source. Local
 * files are read and written without Hadoop.
 */
public final class SparkStorages {
  private static final String LOCAL = "file";

  private SparkStorages() {}

  /**
   * Returns the storage of a dataset.
   *
   * @param path a path, or a URI that is not encoded: Spark does not encode paths
   * @throws IllegalArgumentException if no file system has the scheme
   */
  public static Storage storageFor(String path) {
    SparkSession session = SparkSession.active();
    Optional<Path> local = localPath(path, session);
    return local.isPresent()
        ? LocalStorage.at(local.get())
        : HadoopStorage.at(path, session.sessionState().newHadoopConf());
  }

  /**
   * Returns the directory of a store that is written online; empty if there is none at the path. A
   * store is on a local file system.
   */
  static Optional<Path> storeAt(Storage storage) {
    return localPath(storage).filter(RecordStore::exists);
  }

  /** Returns the directory of a storage; empty if the storage is not local. */
  public static Optional<Path> localPath(Storage storage) {
    return storage instanceof LocalStorage
        ? Optional.of(Path.of(storage.location()))
        : Optional.empty();
  }

  /**
   * Tells whether a storage is at the place of another storage, or below it as a snapshot of a
   * store is.
   */
  public static boolean isWithin(Storage storage, Storage other) {
    Optional<Path> path = localPath(storage);
    Optional<Path> its = localPath(other);
    if (path.isPresent() && its.isPresent()) {
      return realPath(path.get()).startsWith(realPath(its.get()));
    }
    return (storage.location() + "/").startsWith(other.location() + "/");
  }

  private static Path realPath(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }

  /** Returns the one form that all spellings of a path have in common. */
  static String normalized(String path) {
    return normalized(storageFor(path));
  }

  static String normalized(Storage storage) {
    return localPath(storage)
        .map(path -> path.toAbsolutePath().normalize().toString())
        .orElse(storage.location());
  }

  private static Optional<Path> localPath(String path, SparkSession session) {
    int colon = path.indexOf(':');
    // One letter before the colon is a drive of Windows. A slash before the colon belongs to a
    // name.
    if (colon <= 1 || path.substring(0, colon).indexOf('/') >= 0) {
      return isDefaultLocal(session)
          ? Optional.of(Path.of(path).toAbsolutePath())
          : Optional.empty();
    }
    String scheme = path.substring(0, colon).toLowerCase(Locale.ROOT);
    // Not decoded: a percent sign is a percent sign.
    return scheme.equals(LOCAL)
        ? Optional.of(Path.of(path.substring(colon + 1).replaceFirst("^//+(?=/)", "")))
        : Optional.empty();
  }

  /** Tells where paths without a scheme are. The session's setting goes before the context's. */
  private static boolean isDefaultLocal(SparkSession session) {
    Configuration settings = session.sparkContext().hadoopConfiguration();
    String standard = session
        .conf()
        .get(FileSystem.FS_DEFAULT_NAME_KEY, FileSystem.getDefaultUri(settings).toString());
    return standard.startsWith(LOCAL + ":");
  }
}
