package io.zrecord.verify;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestAside;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardList;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Whether a version still names a shard that is being checked. While a check goes on versions may be expired, and their files be swept: what
 * is missing then is no damage. But it is only if the table can be seen here, and no version of it names the shard. Belongs to one thread.
 */
final class ShardNeed {
  private final Storage storage;
  private final ShardSummary shard;
  private final Source source;
  private final ManifestLog log;
  private final Set<Long> readVersions = new HashSet<>();
  private final Set<String> readLists = new HashSet<>();
  private String lastFile = "";
  private boolean isNeeded = true;
  private boolean isNoted;

  /**
   * Where a shard was named.
   *
   * @param tableId id of the table
   * @param version one that named it
   * @param newest the newest version when the check began, which never goes unless a newer one comes
   */
  record Source(UUID tableId, long version, long newest) implements Serializable {}

  ShardNeed(Storage storage, ShardSummary shard, Source source) {
    this.storage = storage;
    this.shard = shard;
    this.source = source;
    this.log = new ManifestLog(storage);
  }

  /**
   * Looks, unless it did for the same file just before: damage of a file may consist of many findings.
   *
   * @throws StorageException if the table cannot be seen here
   */
  boolean isNeeded(String file) {
    if (isNeeded && !file.equals(lastFile)) {
      lastFile = file;
      // Whoever sweeps has seen that no version names the shard before he deletes a file of it.
      isNeeded = isPresent(source.version()) || isNamed();
    }
    return isNeeded;
  }

  private boolean isPresent(long other) {
    try {
      log.read(other);
      return true;
    } catch (MissingFileException e) {
      return false;
    } catch (ZRecordException e) {
      return true;
    }
  }

  /** By any other version, of which some may have gone and some have come. */
  private boolean isNamed() {
    readVersions.clear();
    readLists.clear();
    // One may be put back between the first two looks.
    return isNamedByListed()
        || log.aside().stream().map(ManifestAside::version).anyMatch(this::isNamedBy)
        || isNamedByListed();
  }

  private boolean isNamedByListed() {
    List<Long> versions = log.versions();
    if (versions.stream().anyMatch(this::isNamedBy)) {
      return true;
    }
    requireVisible(
        storage, versions.stream().filter(readVersions::contains).toList(), source.newest());
    return false;
  }

  /**
   * Makes sure that the versions seen are those of the table, and that not the whole table has gone.
   *
   * @param newest the newest when the check began
   * @throws StorageException if neither it nor a newer one is among them
   */
  static void requireVisible(Storage storage, List<Long> versions, long newest) {
    if (versions.stream().noneMatch(version -> version >= newest)) {
      throw new StorageException(
          storage.location(),
          "Cannot check " + storage.location() + ": its version " + newest
              + ", which was there when the check began, is not there any more or not on this machine, and there is no"
              + " newer one. See whether the file system is mounted, here and wherever shards are checked, and check again");
    }
  }

  private boolean isNamedBy(long other) {
    if (readVersions.contains(other)) {
      return false;
    }
    try {
      Manifest manifest = log.read(other);
      if (!manifest.tableId().equals(source.tableId())
          || isAmong(manifest.shards())
          || manifest.indexMap().filter(this::isSame).isPresent()) {
        return true;
      }
      for (ShardList list : manifest.lists()) {
        if (readLists.add(list.file()) && isAmong(log.shards(list))) {
          return true;
        }
      }
      readVersions.add(other);
      return false;
    } catch (MissingFileException e) {
      // It was expired as well, unless one of its lists alone is missing.
      return isPresent(other);
    } catch (ZRecordException e) {
      return true; // It may name the shard.
    }
  }

  private boolean isAmong(List<ShardSummary> shards) {
    return shards.stream().anyMatch(this::isSame);
  }

  private boolean isSame(ShardSummary other) {
    return other.id().equals(shard.id()) && other.metaFile().equals(shard.metaFile());
  }

  /** What is to be said once, instead of all that is found of a shard that is not needed. */
  Optional<Finding> note(String file) {
    boolean isFirst = !isNoted;
    isNoted = true;
    return isFirst
        ? Optional.of(new Finding(
            Finding.Kind.NOTE,
            file,
            null,
            -1,
            0,
            "its shard was not checked: version " + source.version()
                + " was expired meanwhile, and no other names it"))
        : Optional.empty();
  }
}
