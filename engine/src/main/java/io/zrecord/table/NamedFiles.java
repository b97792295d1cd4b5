package io.zrecord.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagEntry;
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
 * that was expired meanwhile, or of a tag that was removed, stay. Belongs to one thread.
 */
final class NamedFiles {
  private final Storage storage;
  private final ManifestLog log;
  private final Set<Long> versions = new HashSet<>();
  private final Set<String> lists = new HashSet<>();
  private final Set<String> tagFiles = new HashSet<>();
  private final Map<UUID, Set<String>> metaFiles = new HashMap<>();
  private long newest = -1;

  NamedFiles(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
  }

  /**
   * Reads the versions committed since the last call.
   *
   * @throws io.zrecord.errors.MissingFileException if the named files cannot be determined, because
   *     the manifest of a version and the copies of its tags are missing
   */
  void refresh() {
    newest = log.readingLast(this::add).orElse(newest);
  }

  /** Adds what the newest version keeps, and returns its number. */
  private long add(Manifest latest) {
    RetainedVersions retained = new RetainedVersions(log, storage.location(), latest);
    for (long version = latest.oldest(); version < latest.version(); version++) {
      if (!versions.contains(version)) {
        addVersion(retained.read(version));
      }
    }
    addVersion(latest);
    for (TagEntry tag : latest.tags()) {
      if (!versions.contains(tag.version())) {
        addVersion(retained.read(tag.version()));
      }
      tagFiles.add(tag.file());
    }
    return latest.version();
  }

  /**
   * Tells whether a version was committed since the last time. Takes one call of the storage,
   * however many versions there are.
   */
  boolean hasNext() {
    return storage.exists(ManifestNames.nameOf(newest + 1));
  }

  private void addVersion(Manifest manifest) {
    for (ShardListFile list : manifest.lists()) {
      if (!lists.contains(list.file())) {
        add(log.shards(list));
        lists.add(list.file());
      }
    }
    add(manifest.shards());
    add(manifest.indexMap().stream().toList());
    versions.add(manifest.version());
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

  boolean namesTagFile(String file) {
    return tagFiles.contains(file);
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
