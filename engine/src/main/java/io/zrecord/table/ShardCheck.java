package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

  /**
   * Checks shards, with one listing for each. Throws if a file is missing, too short, or, of a
   * tables file, too long.
   */
  void check(List<ShardSummary> shards) {
    shards.parallelStream().forEach(this::check);
  }

  /** Checks the shard of an index map, whose field must be that of an index map. */
  void checkIndexMap(ShardSummary map) {
    check(map);
    IndexMap.requireMap(OpenShards.unshared(storage, map), map, storage);
  }

  private void check(ShardSummary shard) {
    Map<String, Long> lengths = new HashMap<>();
    for (StoredFile file : storage.list(shard.directory())) {
      if (!file.isDirectory()) {
        lengths.put(file.name(), file.lengthBytes());
      }
    }
    for (TablesRef tables : shard.tables()) {
      require(shard, lengths, tables.fileName(), tables.bytes(), tables.bytes());
    }
    for (ChunkFile chunk : shard.chunks()) {
      require(shard, lengths, chunk.fileName(), chunk.bytes(), Long.MAX_VALUE);
    }
  }

  private void require(
      ShardSummary shard, Map<String, Long> lengths, String file, long least, long most) {
    String path = storage.pathOf(shard.directory() + "/" + file);
    Long length = lengths.get(file);
    if (length == null) {
      throw new MissingFileException(
          path,
          "Cannot commit shard " + shard.id() + ": " + path + " is missing; run the write again");
    }
    if (length < least || length > most) {
      throw new CorruptDataException(
          path,
          "Cannot commit shard " + shard.id() + ": " + path + " has " + length
              + " bytes instead of " + least + "; run the write again");
    }
  }
}
