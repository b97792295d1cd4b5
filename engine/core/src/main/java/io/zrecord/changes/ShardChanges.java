package io.zrecord.changes;

import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.Collections;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Says of which shard a version inserted, deleted or changed records. A task can take this without
 * sizes: some hundred bytes. Immutable.
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
   * Returns the same without the sizes of fields, which only planners need: some hundred bytes,
   * however many fields the shard has.
   */
  public ShardChanges withoutSizes() {
    return new ShardChanges(
        version,
        before == null ? null : before.withoutSizes(),
        firstBefore,
        after == null ? null : after.withoutSizes(),
        firstAfter,
        rewrittenFields);
  }

  /**
   * Reads which records were changed: of the patch of the shard what says that, or the patches of
   * both versions, at most 8 MiB, if the later one does not follow the earlier one; what the files
   * of rewritten fields say; and no value. Takes some bytes of memory for each record that was
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
    PatchedSlots slots = PatchedSlots.read(storage, then, now);
    IndexSet deleted = slots.deleted(firstBefore);
    SortedMap<Integer, IndexSet> fields = new TreeMap<>(slots.fields(firstBefore));
    for (TablesRef file : now.tables()) {
      if (file.fieldIds().stream().anyMatch(id -> rewrittenFields.contains(id))) {
        TablesFile tables = TablesFile.open(storage, now, file, kept -> {});
        for (int id : file.fieldIds()) {
          IndexSet changed = tables
              .changedByCommit(id)
              .map(some -> slots.changed(firstBefore, some, tables.path()))
              .orElseGet(() -> range(firstBefore, then.length()).minus(deleted));
          if (!changed.isEmpty()) {
            fields.merge(id, changed, IndexSet::union);
          }
        }
      }
    }
    RecordChanges changes = RecordChanges.of(IndexSet.empty(), deleted, fields);
    return new RecordChanges(
        IndexSet.empty(),
        deleted,
        changes.changedBefore(),
        changes.changedAfter().shift(firstAfter - firstBefore),
        fields);
  }

  private static IndexSet range(long first, long count) {
    return IndexSet.range(first, first + count);
  }
}
