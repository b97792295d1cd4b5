package io.zrecord.table;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The files that the versions of a table name. Takes about 100 bytes a shard, whatever the number
 * of versions, because each list of shards is read once. The set only grows: files of a version
 * that was expired meanwhile stay. Belongs to one thread.
 */
final class NamedFiles {
  private final Storage storage;
  private final ManifestLog log;
  private final TagLog tags;
  private final Set<Long> versions = new HashSet<>();
  private final Set<String> lists = new HashSet<>();
  private final Map<UUID, Set<String>> metaFiles = new HashMap<>();
  private long newest = -1;

  NamedFiles(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.tags = new TagLog(storage);
  }

  /**
   * Reads the versions committed since the last call.
   *
   * @throws StorageException if the named files cannot be determined, because a tag names a missing
   *     version
   */
  void refresh() {
    log.versions().forEach(this::addIfPresent);
    // In this order: a manifest is first set aside, and then deleted or, if a tag was made, put
    // back.
    log.aside().forEach(aside -> addIfPresent(aside.version()));
    for (TagLog.Entry tag : tags.all()) {
      addIfPresent(tag.version());
      requireAdded(tag);
    }
    // A manifest may have been put back between the first two looks, and its tag exchanged for
    // another.
    log.versions().forEach(this::addIfPresent);
  }

  /**
   * Tells whether a version was committed since the last time. Takes one call of the storage,
   * however many versions there are.
   */
  boolean hasNext() {
    return storage.exists(ManifestNames.nameOf(newest + 1));
  }

  private void requireAdded(TagLog.Entry tag) {
    // A pending tag may be left by a process that was killed before it noticed that the version had
    // gone.
    if (!versions.contains(tag.version()) && !TagNames.isPending(tag.name())) {
      throw new StorageException(
          storage.location(),
          "Cannot tell what " + storage.location() + " still needs: tag '" + tag.name()
              + "' names version " + tag.version()
              + ", whose manifest is missing; restore " + ManifestNames.nameOf(tag.version())
              + " from a copy, or untag it");
    }
  }

  private void addIfPresent(long version) {
    if (versions.contains(version)) {
      return;
    }
    try {
      Manifest manifest = log.read(version);
      for (ShardListFile list : manifest.lists()) {
        if (!lists.contains(list.file())) {
          add(log.shards(list));
          lists.add(list.file());
        }
      }
      add(manifest.shards());
      add(manifest.indexMap().stream().toList());
      versions.add(version);
      newest = Math.max(newest, version);
    } catch (MissingFileException e) {
      // The version was expired since the directory was read, or a tag names it; anything else is
      // damage.
      if (log.versions().contains(version)) {
        throw e;
      }
    }
  }

  private void add(List<ShardSummary> shards) {
    for (ShardSummary shard : shards) {
      metaFiles.merge(shard.id(), Set.of(shard.metaFile()), NamedFiles::union);
    }
  }

  private static Set<String> union(Set<String> present, Set<String> added) {
    if (present.containsAll(added)) {
      return present;
    }
    Set<String> union = new HashSet<>(present);
    union.addAll(added);
    return Set.copyOf(union);
  }

  boolean namesList(String file) {
    return lists.contains(file);
  }

  boolean namesShard(UUID shard) {
    return metaFiles.containsKey(shard);
  }

  /** Returns the files of a named shard, relative to the shard's directory. */
  Set<String> filesOf(UUID shard) {
    Set<String> files = new HashSet<>();
    for (String metaFile : metaFiles.getOrDefault(shard, Set.of())) {
      String name = "shard/" + shard + "/" + metaFile;
      files.add(metaFile);
      files.addAll(ShardMeta.read(storage.pathOf(name), storage.read(name, SealedJson.MAX_BYTES))
          .fileNames());
    }
    return files;
  }
}
