package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;

/**
 * Checks the files of shards once more before a manifest names them. Files written by a task may
 * have been removed, or may never have reached this storage.
 */
final class ShardCheck {
  private final Storage storage;

  ShardCheck(Storage storage) {
    this.storage = storage;
  }

  /**
   * Checks shards. Throws if a shard's meta file is not the reported one, or another file is
   * missing or too short.
   */
  void check(List<ShardSummary> shards) {
    shards.parallelStream().forEach(this::check);
  }

  /** Checks the shard of an index map, whose fields must be those of an index map. */
  void checkIndexMap(ShardSummary map) {
    IndexMap.requireMap(check(map), storage.pathOf(map.directory() + "/" + map.metaFile()));
  }

  private ShardMeta check(ShardSummary shard) {
    String name = shard.directory() + "/" + shard.metaFile();
    byte[] file = storage.read(name, SealedJson.MAX_BYTES);
    ShardMeta meta = ShardMeta.read(storage.pathOf(name), file);
    if (SealedJson.checksum(storage.pathOf(name), file) != shard.metaChecksum()
        || meta.length() != shard.length()) {
      throw new CorruptDataException(
          storage.pathOf(name),
          "Cannot commit shard " + shard.id() + ": " + storage.pathOf(name)
              + " is not the file that was written; run the write again");
    }
    for (ChunkMeta chunk : meta.chunks()) {
      requireLength(shard, chunk.fileName(), chunk.endBytes());
    }
    for (FieldMeta field : meta.fields()) {
      if (field.layout() == FieldMeta.Layout.RUNS) {
        storage.lengthBytes(shard.directory() + "/" + field.stem() + ".runs");
        if (field.absentCount() > 0) {
          requireLength(shard, field.stem() + ".valid", (meta.length() + 7) / 8);
        }
      } else {
        requireLength(shard, field.stem() + ".offset", meta.length() * Entry.BYTES);
        if (meta.hasChecksums()) {
          requireLength(shard, field.stem() + ".crc32c", meta.length() * Integer.BYTES);
        }
      }
    }
    return meta;
  }

  private void requireLength(ShardSummary shard, String file, long expected) {
    String name = shard.directory() + "/" + file;
    long length = storage.lengthBytes(name);
    if (length < expected) {
      throw new CorruptDataException(
          storage.pathOf(name),
          "Cannot commit shard " + shard.id() + ": " + storage.pathOf(name) + " has " + length
              + " bytes, fewer than " + expected
              + "; run the write again");
    }
  }
}
