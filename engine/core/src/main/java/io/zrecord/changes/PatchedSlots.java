package io.zrecord.changes;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.PatchSlots;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.Collections;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The slots of a shard that a version changed by a patch. Belongs to one thread. */
final class PatchedSlots {
  private static final long[] NO_SLOTS = {};

  private final long[] deleted;
  private final SortedMap<Integer, long[]> fields;
  private final @Nullable RankedBitmap dead;

  /**
   * Creates slots.
   *
   * @param deleted slots that the version deleted, in rising order
   * @param fields slots to which the version gave values, by field id, in rising order
   * @param dead all slots that are deleted in the version; null if none is
   */
  private PatchedSlots(
      long[] deleted, SortedMap<Integer, long[]> fields, @Nullable RankedBitmap dead) {
    this.deleted = deleted;
    this.fields = fields;
    this.dead = dead;
  }

  /**
   * Reads what the patch says of its commit, if the patch follows the one before, and compares both
   * patches otherwise.
   *
   * @param then the shard in the version before
   * @param now the shard in the version, which may have another patch
   */
  static PatchedSlots read(Storage storage, ShardSummary then, ShardSummary now) {
    Optional<PatchSlots> slots = now.patch() == null
        ? Optional.empty()
        : OpenShards.unshared(storage, now).patchSlots();
    RankedBitmap dead = slots.map(PatchSlots::deleted).orElse(null);
    if (now.patch() == null || now.patch().equals(then.patch())) {
      return new PatchedSlots(NO_SLOTS, Collections.emptySortedMap(), dead);
    }
    Optional<UUID> before = Optional.ofNullable(then.patch()).map(PatchRef::id);
    return slots
        .flatMap(PatchSlots::ofCommit)
        .filter(commit -> commit.before().equals(before))
        .map(commit -> of(commit, dead))
        .orElseGet(() -> compared(storage, then, now, dead));
  }

  private static PatchedSlots of(SlotsOfCommit commit, @Nullable RankedBitmap dead) {
    SortedMap<Integer, long[]> fields = new TreeMap<>();
    commit.fields().forEach((id, slots) -> fields.put(id, slots.slots()));
    RankedBitmap deleted = commit.deleted();
    return new PatchedSlots(deleted == null ? NO_SLOTS : deleted.slots(), fields, dead);
  }

  private static PatchedSlots compared(
      Storage storage, ShardSummary then, ShardSummary now, @Nullable RankedBitmap dead) {
    PatchFile old =
        then.patch() == null ? null : OpenShards.unshared(storage, then).patch();
    PatchFile patch = Objects.requireNonNull(OpenShards.unshared(storage, now).patch());
    PatchPart part = PatchPart.since(now, old, patch);
    SortedMap<Integer, long[]> fields = new TreeMap<>();
    part.fieldIds().forEach(id -> fields.put(id, part.changedSlots(id)));
    return new PatchedSlots(part.deletedSlots(), fields, dead);
  }

  /**
   * Returns the indices before of records that the version deleted.
   *
   * @param firstIndex index of the first record of the shard before
   */
  IndexSet deleted(long firstIndex) {
    return indicesBefore(firstIndex, deleted);
  }

  /**
   * Returns the indices before of records to which the version gave values, by field id.
   *
   * @param firstIndex index of the first record of the shard before
   */
  SortedMap<Integer, IndexSet> fields(long firstIndex) {
    SortedMap<Integer, IndexSet> indices = new TreeMap<>();
    fields.forEach((id, slots) -> indices.put(id, indicesBefore(firstIndex, slots)));
    return indices;
  }

  /**
   * Returns the indices before of records to which the version gave values by a tables file.
   *
   * @param firstIndex index of the first record of the shard before
   * @param slots in rising order
   * @param path of the file, for messages
   * @throws CorruptDataException if the version does not have one of the records
   */
  IndexSet changed(long firstIndex, long[] slots, String path) {
    for (long slot : slots) {
      if (dead != null && dead.contains(slot)) {
        throw new CorruptDataException(
            path,
            "Cannot read " + path + ": it says that its commit gave a value to slot " + slot
                + ", which is deleted. Restore it from a copy");
      }
    }
    return indicesBefore(firstIndex, slots);
  }

  private IndexSet indicesBefore(long firstIndex, long[] slots) {
    IndexSet.Builder indices = new IndexSet.Builder();
    int since = 0;
    for (long slot : slots) {
      while (since < deleted.length && deleted[since] < slot) {
        since++;
      }
      long index = firstIndex + slot - (dead == null ? 0 : dead.rank(slot)) + since;
      indices.add(index, index + 1);
    }
    return indices.build();
  }
}
