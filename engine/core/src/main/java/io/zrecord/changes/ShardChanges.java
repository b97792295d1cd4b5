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
    PatchFile old = patchOf(storage, then);
    PatchFile patch = patchOf(storage, now);
    boolean isPatched = patch != null && !Objects.equals(then.patch(), now.patch());
    Slots before = new Slots(firstBefore, old);
    Slots after = new Slots(firstAfter, patch);
    IndexSet deleted = IndexSet.empty();
    SortedMap<Integer, IndexSet> fields = new TreeMap<>();
    IndexSet changedBefore = IndexSet.empty();
    IndexSet changedAfter = IndexSet.empty();
    if (patch != null && isPatched) {
      PatchPart part = PatchPart.between(now, old, patch);
      deleted = before.indices(part.deletedSlots());
      for (int id : part.fieldIds()) {
        long[] slots = part.changedSlots(id);
        fields.put(id, before.indices(slots));
        changedBefore = changedBefore.union(before.indices(slots));
        changedAfter = changedAfter.union(after.indices(slots));
      }
    }
    if (!rewrittenFields.isEmpty()) {
      IndexSet all = range(firstBefore, then.length());
      rewrittenFields.forEach(id -> fields.put(id, all));
      changedBefore = all;
      changedAfter = range(firstAfter, now.length());
    }
    return new RecordChanges(IndexSet.empty(), deleted, changedBefore, changedAfter, fields);
  }

  /** The records of a shard in a version. */
  private record Slots(long firstIndex, @Nullable PatchFile patch) {
    IndexSet indices(long[] slots) {
      RankedBitmap deleted = patch == null ? null : patch.deleted();
      IndexSet.Builder indices = new IndexSet.Builder();
      for (long slot : slots) {
        long index = firstIndex + slot - (deleted == null ? 0 : deleted.rank(slot));
        indices.add(index, index + 1);
      }
      return indices.build();
    }
  }

  private static IndexSet range(long first, long count) {
    return IndexSet.range(first, first + count);
  }

  private static @Nullable PatchFile patchOf(Storage storage, ShardSummary shard) {
    return shard.patch() == null ? null : OpenShards.unshared(storage, shard).patch();
  }
}
