package io.zrecord.spark.path;

import io.zrecord.spark.options.TimeTravel;
import io.zrecord.storage.Storage;
import io.zrecord.table.DropOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A path that a user wrote, resolved once: the table at the path, and the store if there is one.
 *
 * @param path the path as the user wrote it
 * @param table the table at the path, which may not exist yet
 * @param store the directory of a store that is written online, if the path is one
 */
public record DatasetPath(String path, RecordTable table, Optional<Path> store) {
  /** Shards come first: every write that is under way has one, unless it has no rows. */
  private static final List<String> DIRECTORIES = List.of("shard", "list", "manifest");

  /**
   * Resolves a path.
   *
   * @throws IllegalArgumentException if no file system has the scheme of the path
   */
  public static DatasetPath of(String path) {
    return of(path, Map.of());
  }

  /**
   * Resolves a path.
   *
   * @param settings of Hadoop, besides the session's
   * @throws IllegalArgumentException if no file system has the scheme of the path
   */
  public static DatasetPath of(String path, Map<String, String> settings) {
    Storage storage = SparkStorages.storageFor(path, settings);
    return new DatasetPath(path, RecordTable.at(storage), SparkStorages.storeAt(storage));
  }

  /** Tells whether there is a table or a store. */
  public boolean exists() {
    return table.exists() || store.isPresent();
  }

  /** Tells whether there was a table whose creation was taken back, and nothing else is left. */
  public boolean isRetracted() {
    return hasDirectory()
        && !exists()
        && table.storage().list("").stream()
            .allMatch(file -> file.name().equals("manifest") && file.isDirectory());
  }

  /** Returns the newest version, if there is a table or a store. */
  public Optional<DatasetVersion> newest() {
    return store.isPresent()
        ? Optional.of(version(TimeTravel.newest()))
        : table.find().map(DatasetVersion::of);
  }

  /**
   * Returns a version of a table, or the records that a store has when it is scanned.
   *
   * @throws IllegalArgumentException if an older version of a store is asked for
   */
  public DatasetVersion version(TimeTravel time) {
    if (store.isPresent()) {
      if (!time.isNewest()) {
        throw new IllegalArgumentException("Cannot read an older version of " + path
            + ": it is a store that is written online, and has no versions; leave versionAsOf,"
            + " tag and timestampAsOf out");
      }
      return DatasetVersion.ofStore(store.get());
    }
    return DatasetVersion.of(tableVersion(time));
  }

  private TableSnapshot tableVersion(TimeTravel time) {
    if (time.version().isPresent()) {
      return table.version(time.version().get());
    }
    if (time.tag().isPresent()) {
      return table.tagged(time.tag().get());
    }
    return time.instant().isPresent() ? table.asOf(time.instant().get()) : table.latest();
  }

  /**
   * Drops the table with its history.
   *
   * @return false if there is no table
   * @throws UnsupportedOperationException if there is a store that is written online
   */
  public boolean drop(DropOptions.Leftovers leftovers) {
    if (store.isPresent()) {
      throw Unsupported.operation(
          "dropping the store at " + path + ", which is written online",
          "stop the writer, and delete the directory if you are sure");
    }
    Optional<TableSnapshot> newest = table.find();
    newest.ifPresent(
        found -> table.drop(found.tableId(), DropOptions.defaults().withLeftovers(leftovers)));
    return newest.isPresent();
  }

  /** Tells whether another path, perhaps written in another way, names the same directory. */
  public boolean isSamePlaceAs(DatasetPath other) {
    return SparkStorages.normalized(storage()).equals(SparkStorages.normalized(other.storage()));
  }

  /** Tells whether another path names a directory of the same directory. */
  public boolean isBeside(DatasetPath other) {
    return parent().equals(other.parent());
  }

  private String parent() {
    String normalized = SparkStorages.normalized(storage());
    return normalized.substring(0, normalized.lastIndexOf('/') + 1);
  }

  private Storage storage() {
    return table.storage();
  }

  /** Tells whether the directory exists and has nothing in it. */
  public boolean isEmptyDirectory() {
    return hasDirectory() && storage().list("").isEmpty();
  }

  /** Tells whether the directory has anything that a dataset does not have. */
  public boolean hasOtherFiles() {
    return hasDirectory()
        && storage().list("").stream().anyMatch(file -> !DIRECTORIES.contains(file.name()));
  }

  /** Tells whether the directory exists, empty or not. */
  public boolean hasDirectory() {
    return storage().exists("");
  }

  /**
   * Deletes the directories in which a dataset has its files, as far as they are empty. Keeps all
   * that follow one with a file, which may belong to a write that is under way. Never fails.
   *
   * @return whether none of them is left
   */
  public boolean deleteEmptyDirectories() {
    return DIRECTORIES.stream().allMatch(storage()::deleteIfEmpty);
  }

  /** Deletes the directory of the dataset if it is empty. Never fails. */
  public void deleteIfEmpty() {
    storage().deleteIfEmpty("");
  }
}
