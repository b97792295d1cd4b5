package io.zrecord.changes;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Says of which shard a version inserted, deleted or changed records. A task can take this: some
 * hundred bytes. Immutable.
 *
 * @param version number of the version
 * @param before the shard in the version before; null if it was not there
 * @param firstBefore index of its first record there
 * @param after the shard in the version; null if it is not there
 * @param firstAfter index of its first record there
 * @param rewrittenFields the fields of which all records of the shard have got values, by id
 */
public record ShardChanges(
    long version,
    @Nullable ShardSummary before,
    long firstBefore,
    @Nullable ShardSummary after,
    long firstAfter,
    SortedSet<Integer> rewrittenFields)
    implements Serializable {

  public ShardChanges {
    rewrittenFields = Collections.unmodifiableSortedSet(new TreeSet<>(rewrittenFields));
    if (before == null && after == null) {
      throw new IllegalArgumentException("A change is of a shard before, after, or both");
    }
  }

  static ShardChanges inserted(long version, ShardSummary shard, long firstIndex) {
    return new ShardChanges(version, null, 0, shard, firstIndex, Collections.emptySortedSet());
  }

  static ShardChanges deleted(long version, ShardSummary shard, long firstIndex) {
    return new ShardChanges(version, shard, firstIndex, null, 0, Collections.emptySortedSet());
  }

  /**
   * Reads which records were changed: at most the patches of the shard, 8 MiB, and no value. Takes
   * some bytes of memory for each record that was changed.
   *
   * @throws io.zrecord.errors.MissingFileException if a file is missing, as when the version before
   *     was expired and swept
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public RecordChanges read(Storage storage) {
    if (before == null || after == null) {
      return new RecordChanges(
          after == null ? IndexSet.empty() : range(firstAfter, after.length()),
          before == null ? IndexSet.empty() : range(firstBefore, before.length()),
          IndexSet.empty(),
          IndexSet.empty(),
          Collections.emptySortedMap());
    }
    return changed(storage, before, after);
  }

  private RecordChanges changed(Storage storage, ShardSummary then, ShardSummary now) {
    SortedMap<Integer, IndexSet> fields = new TreeMap<>();
    IndexSet deleted = IndexSet.empty();
    PatchFile patch = now.patch() == null || now.patch().equals(then.patch())
        ? null
        : patchOf(storage, now);
    if (patch != null) {
      PatchPart part =
          PatchPart.between(now, then.patch(), patch, () -> patchOf(storage, then));
      deleted = indicesBefore(part.deletedSlots(), part, patch.deleted());
      for (int id : part.fieldIds()) {
        fields.put(id, indicesBefore(part.changedSlots(id), part, patch.deleted()));
      }
    }
    for (int id : rewrittenFields) {
      fields.put(id, range(firstBefore, then.length()).minus(deleted));
    }
    RecordChanges changes = RecordChanges.of(IndexSet.empty(), deleted, fields);
    return new RecordChanges(
        IndexSet.empty(),
        deleted,
        changes.changedBefore(),
        changes.changedAfter().shift(firstAfter - firstBefore),
        fields);
  }

  /**
   * Returns the indices that the records of slots had before.
   *
   * @param dead the slots that are deleted now; null if none is
   */
  private IndexSet indicesBefore(long[] slots, PatchPart part, @Nullable RankedBitmap dead) {
    long[] deleted = part.deletedSlots();
    IndexSet.Builder indices = new IndexSet.Builder();
    int since = 0;
    for (long slot : slots) {
      while (since < deleted.length && deleted[since] < slot) {
        since++;
      }
      long index = firstBefore + slot - (dead == null ? 0 : dead.rank(slot)) + since;
      indices.add(index, index + 1);
    }
    return indices.build();
  }

  private static IndexSet range(long first, long count) {
    return IndexSet.range(first, first + count);
  }

  private static @Nullable PatchFile patchOf(Storage storage, ShardSummary shard) {
    return shard.patch() == null ? null : OpenShards.unshared(storage, shard).patch();
  }
}
