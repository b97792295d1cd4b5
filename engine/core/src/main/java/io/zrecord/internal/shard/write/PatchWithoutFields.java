package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Writes a patch again without the values of some fields, which the tables of the shard have from
 * now on (FORMAT.md section 7.6). Copies entries, binds their checksums anew, and reads no value.
 * Stateless.
 */
public final class PatchWithoutFields {
  private static final long[] NO_SLOTS = {};

  private PatchWithoutFields() {}

  /**
   * Returns the shard with what is left of its patch, and without the chunks that only the fields
   * used. The shard keeps its patch if the patch has no value of the fields, and has none if
   * nothing is left.
   *
   * @param before the patch of the shard
   * @param fileId identity of the new patch
   * @throws io.zrecord.errors.UnsupportedFormatException if the patch has values of another field
   *     that uses an unknown feature
   */
  public static ShardSummary write(
      Storage storage,
      ShardSummary shard,
      PatchFile before,
      Set<Integer> fieldIds,
      UUID fileId,
      Durability durability) {
    Set<Integer> kept = new HashSet<>(before.json().fields().keySet());
    if (!kept.removeAll(fieldIds)) {
      return shard;
    }
    RankedBitmap deleted = before.deleted();
    if (kept.isEmpty() && deleted == null) {
      List<ChunkFile> chunks = new ArrayList<>(shard.chunks());
      chunks.removeAll(before.json().chunks());
      return shard.unpatched(chunks);
    }
    PatchFileWriter.Content content =
        new PatchFileWriter.Content(deleted == null ? NO_SLOTS : deleted.slots(), NO_SLOTS);
    content.chunks.addAll(before.json().chunks());
    for (int id : kept) {
      PatchField field = before.json().field(id);
      content.specs.put(
          id, new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression()));
      content.fields.put(id, copied(before, field));
    }
    try {
      return new PatchFileWriter(storage, shard, before, fileId, durability).write(content);
    } catch (RuntimeException e) {
      discard(storage, shard.directory() + "/" + fileId + ".patch", e);
      throw e;
    }
  }

  private static void discard(Storage storage, String name, RuntimeException reason) {
    try {
      storage.delete(name);
    } catch (RuntimeException e) {
      // No version names the file, so a sweep finds it.
      reason.addSuppressed(e);
    }
  }

  private static PatchValues copied(PatchFile before, PatchField field) {
    ChangedField changed = before.changed(field);
    int[] ordinals = IntStream.range(0, before.json().chunks().size()).toArray();
    PatchValues values = new PatchValues();
    values.compression = field.compression();
    for (long slot : changed.slots().slots()) {
      values.keep(changed, slot, slot, ordinals);
    }
    values.statistics = before.statistics(field.id(), changed.slots());
    return values;
  }
}
