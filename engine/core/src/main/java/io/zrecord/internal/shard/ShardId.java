package io.zrecord.internal.shard;

import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The identity of an open shard: its place, and what a manifest says of the shard. Two manifests
 * that say different things share nothing, so that each is compared with the files.
 *
 * @param storage identity of the storage
 * @param shard identity of the shard, which is in the name of its directory
 * @param length number of records
 * @param chunks the files with the values
 * @param tables the tables files, each by its name and by the checksum of its JSON
 * @param patch the patch; null if there is none
 */
record ShardId(
    Object storage,
    UUID shard,
    long length,
    List<ChunkFile> chunks,
    List<Tables> tables,
    @Nullable PatchRef patch) {

  /** A tables file as a manifest names it. */
  record Tables(UUID file, int jsonChecksum) {}

  static ShardId of(Storage storage, ShardSummary shard) {
    List<Tables> tables = shard.tables().stream()
        .map(ref -> new Tables(ref.id(), ref.jsonChecksum()))
        .toList();
    return new ShardId(
        storage.identity(), shard.id(), shard.length(), shard.chunks(), tables, shard.patch());
  }
}
