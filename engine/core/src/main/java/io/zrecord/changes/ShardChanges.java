package io.zrecord.changes;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
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
 * @param rewrittenFields the fields that have tables in another file than before, by id
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
   * Reads which records were changed: at most the patches of the shard, 8 MiB, what the files of
   * rewritten fields say, and no value. Takes some bytes of memory for each record that was
   * changed.
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
    Changed changed = new Changed(before, after);
    if (patch != null && isPatched) {
      PatchPart part = PatchPart.between(now, old, patch);
      deleted = before.indices(part.deletedSlots());
      part.fieldIds().forEach(id -> changed.add(id, part.changedSlots(id)));
    }
    for (TablesRef file : now.tables()) {
      if (file.fieldIds().stream().anyMatch(id -> rewrittenFields.contains(id))) {
        TablesFile tables = TablesFile.open(storage, now, file, kept -> {});
        for (int id : file.fieldIds()) {
          tables
              .changedByCommit(id)
              .ifPresentOrElse(
                  slots -> changed.add(id, slots), () -> changed.addAll(id, then, now));
        }
      }
    }
    return changed.with(deleted);
  }

  /** Collects the records of which fields have got values. */
  private static final class Changed {
    private final Slots before;
    private final Slots after;
    private final SortedMap<Integer, IndexSet> fields = new TreeMap<>();
    private IndexSet indicesBefore = IndexSet.empty();
    private IndexSet indicesAfter = IndexSet.empty();

    Changed(Slots before, Slots after) {
      this.before = before;
      this.after = after;
    }

    void add(int fieldId, long[] slots) {
      if (slots.length > 0) {
        add(fieldId, before.indices(slots), after.indices(slots));
      }
    }

    void addAll(int fieldId, ShardSummary then, ShardSummary now) {
      add(
          fieldId,
          range(before.firstIndex(), then.length()),
          range(after.firstIndex(), now.length()));
    }

    private void add(int fieldId, IndexSet then, IndexSet now) {
      fields.merge(fieldId, then, IndexSet::union);
      indicesBefore = indicesBefore.union(then);
      indicesAfter = indicesAfter.union(now);
    }

    RecordChanges with(IndexSet deleted) {
      return new RecordChanges(IndexSet.empty(), deleted, indicesBefore, indicesAfter, fields);
    }
  }

  /** The records of a shard in a version. */
  private record Slots(long firstIndex, @Nullable PatchFile patch) {
    IndexSet indices(long[] slots) {
      RankedBitmap deleted = patch == null ? null : patch.deleted();
      IndexSet.Builder indices = new IndexSet.Builder();
      for (long slot : slots) {
        if (patch != null && deleted != null && deleted.contains(slot)) {
          throw new CorruptDataException(
              patch.path(),
              "Cannot tell what was changed: a file says that slot " + slot
                  + " was, which is deleted by " + patch.path()
                  + ". Restore the shard from a copy");
        }
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
