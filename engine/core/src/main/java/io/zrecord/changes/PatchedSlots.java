package io.zrecord.changes;

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
   * @param now the shard in the version, which has another patch
   */
  static PatchedSlots read(Storage storage, ShardSummary then, ShardSummary now) {
    Optional<PatchSlots> slots = OpenShards.unshared(storage, now).patchSlots();
    RankedBitmap dead = slots.map(PatchSlots::deleted).orElse(null);
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
