package io.zrecord.table;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * Writes what a change needs where its patch is too large: tables of the fields that it changes
 * most, or where that is not enough, because it deletes very many records, the shard again. Belongs
 * to one thread.
 */
final class ShardRewrite {
  private final Storage storage;
  private final RecordSchema schema;
  private final List<String> files;

  /**
   * Prepares a rewrite.
   *
   * @param schema the fields of the table
   * @param files takes the name of each file and each directory that is written
   */
  ShardRewrite(Storage storage, RecordSchema schema, List<String> files) {
    this.storage = storage;
    this.schema = schema;
    this.files = files;
  }

  /**
   * Returns the shard with the changes of a patch that is too large.
   *
   * @param patched the shard with the patch, which says what its commit changes
   */
  ShardSummary of(ShardSummary patched) {
    PatchFile patch =
        Objects.requireNonNull(OpenShards.unshared(storage, patched).patch());
    Set<Integer> excess = PatchToTables.excess(patch, Objects.requireNonNull(patched.patch()));
    ShardSummary moved = excess.isEmpty()
        ? patched
        : new PatchToTables(storage, schema, files).moveChanged(patched, patch, excess);
    if (isSmall(moved)) {
      return moved;
    }
    UUID id = UUID.randomUUID();
    files.add("shard/" + id);
    return ShardCopy.copy(storage, schema, moved, id, WriteOptions.defaults()).get(0);
  }

  private boolean isSmall(ShardSummary shard) {
    PatchRef ref = shard.patch();
    PatchFile patch = OpenShards.unshared(storage, shard).patch();
    return ref == null
        || patch == null
        || (ref.bytes() <= PatchRef.MOST_BYTES
            && patch.json().chunks().size() <= PatchRef.MOST_CHUNKS);
  }
}
