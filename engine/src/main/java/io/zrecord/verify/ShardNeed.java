package io.zrecord.verify;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestAside;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardList;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Whether a version still names a shard that is being checked. While a check goes on versions may be expired, and their files be swept: what
 * is missing then is no damage. Belongs to one thread.
 */
final class ShardNeed {
  private final ShardSummary shard;
  private final long version;
  private final ManifestLog log;
  private final Set<String> readLists = new HashSet<>();
  private String lastFile = "";
  private boolean isNeeded = true;
  private boolean isNoted;

  /** @param version one that named it */
  ShardNeed(Storage storage, ShardSummary shard, long version) {
    this.shard = shard;
    this.version = version;
    this.log = new ManifestLog(storage);
  }

  /** Looks, unless it did for the same file just before: damage of a file may consist of many findings. */
  boolean isNeeded(String file) {
    if (isNeeded && !file.equals(lastFile)) {
      lastFile = file;
      // Whoever sweeps has seen that no version names the shard before he deletes a file of it.
      isNeeded = isPresent() || isNamed();
    }
    return isNeeded;
  }

  private boolean isPresent() {
    try {
      log.read(version);
      return true;
    } catch (MissingFileException e) {
      return false;
    } catch (ZRecordException e) {
      return true;
    }
  }

  /** By any other version, of which some may have gone and some have come. */
  private boolean isNamed() {
    readLists.clear();
    return log.versions().stream().anyMatch(this::isNamedBy)
        || log.aside().stream().map(ManifestAside::version).anyMatch(this::isNamedBy);
  }

  private boolean isNamedBy(long other) {
    try {
      Manifest manifest = log.read(other);
      if (isAmong(manifest.shards()) || manifest.indexMap().filter(this::isSame).isPresent()) {
        return true;
      }
      for (ShardList list : manifest.lists()) {
        if (readLists.add(list.file()) && isAmong(log.shards(list))) {
          return true;
        }
      }
      return false;
    } catch (MissingFileException e) {
      return false; // It was expired as well.
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
            "its shard was not checked: version " + version
                + " was expired meanwhile, and no other names it"))
        : Optional.empty();
  }
}
