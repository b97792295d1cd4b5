package io.zrecord.table;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.table.DirectoryGuess;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * A table: its versions, and the commit that adds one (FORMAT.md section 7). Nothing is kept in memory between calls, so this always
 * sees the newest version. Thread-safe; any number of processes may commit at once.
 */
public final class RecordTable {
  private static final Set<String> OWN_DIRECTORIES = Set.of("manifest", "list", "shard");

  private final Storage storage;
  private final ManifestLog log;

  private RecordTable(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
  }

  /** The table in a storage, which need not exist yet. */
  public static RecordTable at(Storage storage) {
    return new RecordTable(storage);
  }

  public Storage storage() {
    return storage;
  }

  /** Whether there is at least one version. */
  public boolean exists() {
    return !log.versions().isEmpty();
  }

  /**
   * The newest version.
   *
   * @throws NotADatasetException if there is none
   */
  public TableSnapshot latest() {
    return snapshot(log.newest().orElseThrow(this::notATable));
  }

  /**
   * A version by its number.
   *
   * @throws VersionNotFoundException if it does not exist, or was expired
   */
  public TableSnapshot version(long version) {
    List<Long> versions = requireVersions();
    if (!versions.contains(version)) {
      throw new VersionNotFoundException(
          storage.location(),
          "Cannot read version " + version + " of " + storage.location() + ": the versions are "
              + versions.get(0) + " to " + versions.get(versions.size() - 1));
    }
    return snapshot(log.read(version));
  }

  /**
   * The newest version committed at or before a time.
   *
   * @throws VersionNotFoundException if the time is before the first version
   */
  public TableSnapshot asOf(Instant time) {
    List<Long> versions = requireVersions();
    int low = 0;
    int high = versions.size() - 1;
    Manifest first = log.read(versions.get(0));
    if (Instant.ofEpochMilli(first.timestampMillis()).isAfter(time)) {
      Manifest last = log.read(versions.get(high));
      throw new VersionNotFoundException(
          storage.location(),
          "Cannot read " + storage.location() + " as of " + time + ": its versions are "
              + first.version() + " of " + Instant.ofEpochMilli(first.timestampMillis()) + " to "
              + last.version() + " of " + Instant.ofEpochMilli(last.timestampMillis()));
    }
    Manifest found = first;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      Manifest manifest = log.read(versions.get(middle));
      if (Instant.ofEpochMilli(manifest.timestampMillis()).isAfter(time)) {
        high = middle - 1;
      } else {
        low = middle;
        found = manifest;
      }
    }
    return snapshot(found);
  }

  /** Numbers of the versions that can be read, oldest first. */
  public List<Long> versions() {
    return log.versions();
  }

  /**
   * Publishes a change as the next version, on top of commits that came first if the changes commute.
   *
   * @return the version published, or the newest one if the transaction took effect before
   * @throws io.zrecord.errors.CommitConflictException if they do not commute; nothing was published
   * @throws io.zrecord.errors.DatasetExistsException if the table was to be created and exists
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if it may or may not have been published; delete nothing
   */
  public TableSnapshot commit(TableChange change) {
    requireCreatable();
    Manifest manifest = new Committer(storage, log).commit(change);
    return new TableSnapshot(storage, manifest, () -> log.shards(manifest));
  }

  /**
   * Checks that a table exists here or can be created: not among files of something else.
   *
   * @throws NotADatasetException if there are such files
   */
  public void requireCreatable() {
    for (StoredFile file : storage.list("")) {
      boolean isHidden = file.name().startsWith(".") || file.name().startsWith("_");
      if (!isHidden && !OWN_DIRECTORIES.contains(file.name()) && !exists()) {
        throw new NotADatasetException(
            storage.location(),
            "Cannot create a dataset at " + storage.location()
                + ": the directory has other content, such as " + file.name()
                + "; choose an empty or new directory");
      }
    }
  }

  private TableSnapshot snapshot(Manifest manifest) {
    return new TableSnapshot(storage, manifest, () -> log.shards(manifest)).load();
  }

  private List<Long> requireVersions() {
    List<Long> versions = log.versions();
    if (versions.isEmpty()) {
      throw notATable();
    }
    return versions;
  }

  private NotADatasetException notATable() {
    return new NotADatasetException(
        storage.location(),
        "There is no zrecord table at " + storage.location() + ": " + DirectoryGuess.of(storage));
  }
}
