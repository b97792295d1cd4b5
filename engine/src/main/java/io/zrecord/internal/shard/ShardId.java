package io.zrecord.internal.shard;

import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The identity of an open shard: its place, and its tables files, which determine all its values.
 *
 * @param location of the storage
 * @param shard identity of the shard, which is in the name of its directory
 * @param tables the tables files, each by its name and by the checksum of its JSON
 * @param patch the patch, likewise; null if there is none
 */
record ShardId(
    String location,
    UUID shard,
    List<Tables> tables,
    @Nullable Tables patch) {

  /** A tables file, or a patch, as a manifest names it. */
  record Tables(UUID file, int jsonChecksum) {}

  static ShardId of(String location, ShardSummary shard) {
    List<Tables> tables = shard.tables().stream()
        .map(ref -> new Tables(ref.id(), ref.jsonChecksum()))
        .toList();
    PatchRef patch = shard.patch();
    return new ShardId(
        location,
        shard.id(),
        tables,
        patch == null ? null : new Tables(patch.id(), patch.jsonChecksum()));
  }
}
