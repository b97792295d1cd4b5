package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Checks the files of shards once more before a manifest names them. Files written by a task may
 * have been removed, or may never have reached this storage. No name is used twice, so a file with
 * the right name and length is the file that was written.
 */
final class ShardCheck {
  private final Storage storage;

  ShardCheck(Storage storage) {
    this.storage = storage;
  }

  /** Checks shards none of whose files a version names. */
  long check(List<ShardSummary> shards) {
    return check(shards, Set.of());
  }

  /**
   * Checks shards, with one listing for each. Throws if a file is missing, too short, or, of a
   * tables file or a patch, too long.
   *
   * @param known files that a version names already, whose age does not matter
   * @return when the oldest file was changed last, by the storage's clock
   */
  long check(List<ShardSummary> shards, Set<UUID> known) {
    if (!storage.isRemote()) {
      return shards.parallelStream()
          .mapToLong(shard -> check(shard, known))
          .min()
          .orElse(Long.MAX_VALUE);
    }
    AtomicLong oldestMillis = new AtomicLong(Long.MAX_VALUE);
    Requests.forEach(
        storage, shards, shard -> oldestMillis.accumulateAndGet(check(shard, known), Math::min));
    return oldestMillis.get();
  }

  /** Checks the shard of an index map likewise, whose field must be that of an index map. */
  long checkIndexMap(ShardSummary map) {
    long oldestMillis = check(map, Set.of());
    IndexMap.requireMap(OpenShards.unshared(storage, map), map, storage);
    return oldestMillis;
  }

  private long check(ShardSummary shard, Set<UUID> known) {
    Map<String, StoredFile> files = new HashMap<>();
    list(shard.directory(), files);
    shard.chunks().stream()
        .filter(chunk -> chunk.owner() != null && !known.contains(chunk.id()))
        .map(shard::directoryOf)
        .distinct()
        .forEach(directory -> list(directory, files));
    long oldestMillis = Long.MAX_VALUE;
    for (TablesRef tables : shard.tables()) {
      StoredFile file = require(shard, files, shard.fileOf(tables), tables.bytes(), tables.bytes());
      oldestMillis = older(oldestMillis, tables.id(), file, known);
    }
    PatchRef patch = shard.patch();
    if (patch != null) {
      StoredFile file = require(shard, files, shard.fileOf(patch), patch.bytes(), patch.bytes());
      oldestMillis = older(oldestMillis, patch.id(), file, known);
    }
    for (ChunkFile chunk : shard.chunks()) {
      if (chunk.owner() != null && known.contains(chunk.id())) {
        continue;
      }
      StoredFile file = require(shard, files, shard.fileOf(chunk), chunk.bytes(), Long.MAX_VALUE);
      oldestMillis = older(oldestMillis, chunk.id(), file, known);
    }
    return oldestMillis;
  }

  private void list(String directory, Map<String, StoredFile> files) {
    for (StoredFile file : storage.list(directory)) {
      if (!file.isDirectory()) {
        files.put(directory + "/" + file.name(), file);
      }
    }
  }

  private static long older(long millis, UUID id, StoredFile file, Set<UUID> known) {
    return known.contains(id) ? millis : Math.min(millis, file.modifiedMillis());
  }

  private StoredFile require(
      ShardSummary shard, Map<String, StoredFile> files, String name, long least, long most) {
    String path = storage.pathOf(name);
    StoredFile file = files.get(name);
    if (file == null) {
      throw new MissingFileException(
          path,
          "Cannot commit shard " + shard.id() + ": " + path + " is missing; run the write again");
    }
    if (file.lengthBytes() < least || file.lengthBytes() > most) {
      throw new CorruptDataException(
          path,
          "Cannot commit shard " + shard.id() + ": " + path + " has " + file.lengthBytes()
              + " bytes instead of " + least + "; run the write again");
    }
    return file;
  }
}
