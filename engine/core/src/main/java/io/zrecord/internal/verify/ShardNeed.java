package io.zrecord.internal.verify;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Tells whether a version still names a shard that is being checked. While a check runs, versions
 * may be expired and their files swept, and a missing file of such a shard is no damage. It remains
 * damage unless the table is visible here and none of its versions names the shard. Belongs to one
 * thread.
 */
public final class ShardNeed {
  private final Storage storage;
  private final ShardSummary shard;
  private final Source source;
  private final ManifestLog log;
  private final Set<String> readLists = new HashSet<>();

  /** Where the file of each list has the shard. */
  private final Map<String, Set<Integer>> placesInLists = new HashMap<>();

  private String lastFile = "";
  private boolean isNeeded = true;
  private boolean isNoted;

  /**
   * A version that named the shard.
   *
   * @param tableId id of the table
   * @param version a version that named the shard
   * @param newest the newest version at the start of the check, which stays unless a newer version
   *     is committed
   */
  public record Source(UUID tableId, long version, long newest) implements Serializable {}

  public ShardNeed(Storage storage, ShardSummary shard, Source source) {
    this.storage = storage;
    this.shard = shard;
    this.source = source;
    this.log = new ManifestLog(storage);
  }

  /**
   * Tells whether a version still names the shard. Looks again only if the file differs from the
   * last one, because damage of a file may be many findings.
   *
   * @throws StorageException if the table is not visible here
   */
  boolean isNeeded(String file) {
    if (isNeeded && !file.equals(lastFile)) {
      lastFile = file;
      // A sweep deletes a file of a shard only after no version names the shard.
      isNeeded = isNamed();
    }
    return isNeeded;
  }

  /** Tells whether a version that can be read now names the shard. */
  private boolean isNamed() {
    readLists.clear();
    placesInLists.clear();
    Optional<Boolean> isNamed;
    try {
      isNamed = log.reading(this::isNamed);
    } catch (ZRecordException e) {
      return true; // The version that cannot be read may name the shard.
    }
    if (!isNamed.orElse(false)) {
      requireVisible(storage, source.newest());
    }
    return isNamed.orElse(false);
  }

  private boolean isNamed(Manifest newest) {
    if (!newest.tableId().equals(source.tableId())) {
      return true;
    }
    RetainedVersions retained = new RetainedVersions(log, storage.location(), newest);
    return retained.has(source.version())
        || retained.numbers().stream().anyMatch(version -> isNamedBy(retained.read(version)));
  }

  private boolean isNamedBy(Manifest manifest) {
    if (manifest.shards().stream().anyMatch(this::isSame)
        || manifest.indexMap().filter(this::isSame).isPresent()) {
      return true;
    }
    return isInLists(manifest.lists());
  }

  private boolean isInLists(List<ShardListFile> lists) {
    for (ShardListFile list : lists) {
      // What a list of lists has replaced may be read again for each version.
      boolean isNew = !list.replaced().isEmpty() || readLists.add(list.file());
      if (isNew && (list.isOfLists() ? isInLists(log.members(list)) : isIn(list))) {
        return true;
      }
    }
    return false;
  }

  private boolean isIn(ShardListFile list) {
    if (list.replaced().shards().anyMatch(this::isSame)) {
      return true;
    }
    Set<Integer> places = placesInLists.computeIfAbsent(list.file(), file -> {
      List<ShardSummary> inFile = log.shardsOfFile(list);
      return IntStream.range(0, inFile.size())
          .filter(i -> isSame(inFile.get(i)))
          .boxed()
          .collect(Collectors.toSet());
    });
    return !list.replaced().ordinals().containsAll(places);
  }

  /**
   * Makes sure that the table as a whole is still there.
   *
   * @param newest the newest version at the start of the check
   * @throws StorageException if neither {@code newest} nor a newer version is there
   */
  public static void requireVisible(Storage storage, long newest) {
    if (new ManifestLog(storage).listed().stream().noneMatch(version -> version >= newest)) {
      throw new StorageException(
          storage.location(),
          "Cannot check " + storage.location() + ": its version " + newest
              + ", which was there when the check began, is not there any more or not on this machine, and there is no"
              + " newer one. See whether the file system is mounted, here and wherever shards are checked, and check again");
    }
  }

  private boolean isSame(ShardSummary other) {
    return other.id().equals(shard.id())
        && other.tables().equals(shard.tables())
        && java.util.Objects.equals(other.patch(), shard.patch());
  }

  /** Returns the one finding that replaces all findings about a shard that is not needed. */
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
