package io.zrecord.table;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchWithoutFields;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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
    ShardSummary left = withoutDroppedFields(patched);
    if (isSmall(left)) {
      return left;
    }
    PatchFile patch = Objects.requireNonNull(OpenShards.unshared(storage, left).patch());
    Optional<Set<Integer>> excess =
        new PatchExcess(left, Objects.requireNonNull(left.patch()), patch).choose();
    if (excess.isPresent()) {
      return new PatchToTables(storage, schema, files).moveChanged(left, patch, excess.get());
    }
    UUID id = UUID.randomUUID();
    files.add("shard/" + id);
    return ShardCopy.copy(storage, schema, left, id, WriteOptions.defaults()).get(0);
  }

  /** Takes values of fields that the table does not have any more out of the patch. */
  private ShardSummary withoutDroppedFields(ShardSummary patched) {
    PatchFile patch =
        Objects.requireNonNull(OpenShards.unshared(storage, patched).patch());
    Set<Integer> dropped = new HashSet<>(patch.json().fields().keySet());
    schema.fields().forEach(field -> dropped.remove(field.id()));
    schema.unreadable().forEach(field -> dropped.remove(field.id()));
    UUID fileId = UUID.randomUUID();
    ShardSummary left = PatchWithoutFields.write(
        storage,
        patched,
        patch,
        dropped,
        fileId,
        PatchWithoutFields.Commit.SAME,
        Durability.COMMIT);
    PatchRef ref = left.patch();
    if (ref != null && ref.id().equals(fileId)) {
      files.add(left.fileOf(ref));
    }
    return left;
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
