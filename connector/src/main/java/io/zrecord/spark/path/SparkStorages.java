package io.zrecord.spark.path;

import io.zrecord.Storages;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.storage.Storage;
import io.zrecord.storage.hadoop.DirectoryPattern;
import io.zrecord.storage.hadoop.HadoopStorage;
import io.zrecord.storage.hadoop.OwnSettings;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    return storageFor(path, Map.of());
  }

  /**
   * Returns the storage of a dataset.
   *
   * @param path as for {@link #storageFor(String)}
   * @param settings of Hadoop, besides the session's
   */
  public static Storage storageFor(String path, Map<String, String> settings) {
    Optional<Path> local = localPath(path, settings);
    return local.isPresent()
        ? LocalStorage.at(local.get())
        : HadoopStorage.at(path, configuration(settings));
  }

  private static Configuration configuration(Map<String, String> settings) {
    Map<String, String> own = new HashMap<>(StorageSettings.ofSession());
    own.putAll(settings);
    return OwnSettings.added(SparkSession.active().sessionState().newHadoopConf(), own);
  }

  /** Tells whether a path has a character that is special in a pattern. */
  static boolean isPattern(String path) {
    return DirectoryPattern.isPattern(path);
  }

  /**
   * Returns the directories that match a pattern, sorted by their paths.
   *
   * @throws IllegalArgumentException if the pattern is not valid
   */
  static List<String> matches(String pattern, Map<String, String> settings) {
    return DirectoryPattern.matches(
        pattern, localPath(pattern, settings).isPresent(), configuration(settings));
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
    return (normalized(storage) + "/").startsWith(normalized(other) + "/");
  }

  /**
   * Tells whether a path is another path, however the two are written, or is within it. Opens no
   * file system if the names of the directories say enough.
   */
  public static boolean isWithin(String path, String other) {
    Optional<Path> local = localPath(path, Map.of());
    Optional<Path> its = localPath(other, Map.of());
    if (local.isPresent() && its.isPresent()) {
      return realPath(local.get()).startsWith(realPath(its.get()));
    }
    try {
      return local.isEmpty()
          && its.isEmpty()
          && (pathOf(path) + "/").startsWith(pathOf(other) + "/")
          && isWithin(storageFor(path), storageFor(other));
    } catch (IllegalArgumentException e) {
      return false; // No file system of this session, so no place of a table that it can read.
    }
  }

  /** Tells whether two remote storages differ at most in the host or the bucket. */
  public static boolean haveSamePath(Storage storage, Storage other) {
    return storage.isRemote()
        && other.isRemote()
        && pathOf(storage.location()).equals(pathOf(other.location()));
  }

  private static String pathOf(String location) {
    return new org.apache.hadoop.fs.Path(location).toUri().getPath();
  }

  /** Follows links, also on the way to a path where nothing is yet. */
  private static Path realPath(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    for (Path there = absolute; there != null; there = there.getParent()) {
      try {
        return there.toRealPath().resolve(there.relativize(absolute));
      } catch (IOException e) {
        // Nothing is there. The directory above may be a link.
      }
    }
    return absolute;
  }

  /** Returns the one form that all spellings of a path have in common. */
  static String normalized(String path, Map<String, String> settings) {
    return normalized(storageFor(path, settings));
  }

  /** Returns the one form that the locations of a place have in common, only for comparisons. */
  static String normalized(Storage storage) {
    return localPath(storage)
        .map(path -> path.toAbsolutePath().normalize().toString())
        .orElseGet(() -> UniformLocation.of(storage.location()));
  }

  private static Optional<Path> localPath(String path, Map<String, String> settings) {
    Optional<Path> local = Storages.localPath(path);
    boolean isNamed = path.regionMatches(true, 0, LOCAL + ":", 0, LOCAL.length() + 1);
    return local
        .filter(there -> isNamed || isDefaultLocal(settings))
        .map(there -> isNamed ? there : there.toAbsolutePath());
  }

  /**
   * Tells where paths without a scheme are. The settings of a read go before the session's setting,
   * which goes before the context's.
   */
  private static boolean isDefaultLocal(Map<String, String> settings) {
    SparkSession session = SparkSession.active();
    String own = settings.getOrDefault(
        FileSystem.FS_DEFAULT_NAME_KEY,
        StorageSettings.ofSession().getOrDefault(FileSystem.FS_DEFAULT_NAME_KEY, ""));
    Configuration shared = session.sparkContext().hadoopConfiguration();
    String standard = own.isEmpty()
        ? session
            .conf()
            .get(
                FileSystem.FS_DEFAULT_NAME_KEY, FileSystem.getDefaultUri(shared).toString())
        : own;
    return standard.startsWith(LOCAL + ":");
  }
}
