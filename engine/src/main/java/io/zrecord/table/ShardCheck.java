package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;

/**
 * Looks at the files of shards once more before a manifest names them: what a task wrote may have been removed, or never have
 * reached this storage.
 */
final class ShardCheck {
  private final Storage storage;

  ShardCheck(Storage storage) {
    this.storage = storage;
  }

  /** Throws if a shard's meta file is not the one that was reported, or a chunk is shorter than it says. */
  void check(List<ShardSummary> shards) {
    shards.parallelStream().forEach(this::check);
  }

  private void check(ShardSummary shard) {
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
      String chunkName = shard.directory() + "/" + chunk.fileName();
      long length = storage.lengthBytes(chunkName);
      if (length != chunk.endBytes()) {
        throw new CorruptDataException(
            storage.pathOf(chunkName),
            "Cannot commit shard " + shard.id() + ": "
                + storage.pathOf(chunkName) + " has " + length + " bytes instead of "
                + chunk.endBytes()
                + "; run the write again");
      }
    }
  }
}
