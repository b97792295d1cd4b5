package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a patch again without the values of some fields, which the tables of the shard have from
 * now on (FORMAT.md section 7.6). Copies entries, binds their checksums anew, and reads no value.
 * Stateless.
 */
public final class PatchWithoutFields {
  private static final long[] NO_SLOTS = {};

  private PatchWithoutFields() {}

  /** Of which commit the patch with the values is. */
  public enum Commit {
    /** An earlier one: the patch without them changes nothing. */
    EARLIER,
    /** The one of the patch without them, which says what the commit changed. */
    SAME
  }

  /**
   * Returns the shard with what is left of its patch, and without the chunks that only the fields
   * used. The shard keeps its patch if the patch has no value of the fields, and has none if
   * nothing is left.
   *
   * @param before the patch of the shard
   * @param fileId identity of the new patch
   * @param commit of which commit the patch of the shard is
   * @throws io.zrecord.errors.UnsupportedFormatException if the patch has values of another field
   *     that uses an unknown feature
   */
  public static ShardSummary write(
      Storage storage,
      ShardSummary shard,
      PatchFile before,
      Set<Integer> fieldIds,
      UUID fileId,
      Commit commit,
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
    SlotsOfCommit changes = commit == Commit.SAME
        ? before.slotsOfCommit().orElseThrow()
        : new SlotsOfCommit(
            Optional.of(before.json().fileId()), null, Collections.emptySortedMap());
    PatchFileWriter.Content content =
        new PatchFileWriter.Content(SlotCollector.of(deleted), SlotCollector.of(changes.deleted()));
    content.chunks.addAll(before.json().chunks());
    for (int id : kept) {
      PatchField field = before.json().field(id);
      content.specs.put(
          id, new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression()));
      content.fields.put(id, copied(before, field));
      content.changedByCommit.put(id, slots(changes.fields().get(id)));
    }
    try {
      return new PatchFileWriter(storage, shard, before, fileId, durability)
          .following(changes.before())
          .write(content);
    } catch (RuntimeException e) {
      discard(storage, shard.directory() + "/" + fileId + ".patch", e);
      throw e;
    }
  }

  private static long[] slots(@Nullable RankedBitmap set) {
    return set == null ? NO_SLOTS : set.slots();
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
