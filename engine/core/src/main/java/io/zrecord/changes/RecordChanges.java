package io.zrecord.changes;

import io.zrecord.read.IndexSet;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/**
 * The records of a shard, or of a table, that were inserted, deleted and changed from a version
 * before to a version. Takes 16 bytes for each run of neighbours. Immutable.
 *
 * @param inserted indices in the version
 * @param deleted indices in the version before
 * @param changedBefore indices in the version before of records that have got values
 * @param changedAfter indices in the version of the same records, in the same order
 * @param fields the fields that have got values, by id, with the indices in the version before of
 *     the records; a value may be the same as before
 */
public record RecordChanges(
    IndexSet inserted,
    IndexSet deleted,
    IndexSet changedBefore,
    IndexSet changedAfter,
    SortedMap<Integer, IndexSet> fields)
    implements Serializable {

  /** No record that was inserted, deleted or changed. */
  public static final RecordChanges NONE = new RecordChanges(
      IndexSet.empty(),
      IndexSet.empty(),
      IndexSet.empty(),
      IndexSet.empty(),
      Collections.emptySortedMap());

  public RecordChanges {
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }
  /** Makes changes of records, given those that are there in both versions and have got values. */
  static RecordChanges of(
      IndexSet inserted, IndexSet deleted, SortedMap<Integer, IndexSet> fields) {
    IndexSet changed = union(List.copyOf(fields.values()));
    return new RecordChanges(
        inserted, deleted, changed, new Renumbering(deleted, inserted).toAfter(changed), fields);
  }

  /** Returns the changes of all shards of which a version changed records. */
  static RecordChanges ofShards(List<RecordChanges> shards) {
    IndexSet deleted = union(shards.stream().map(RecordChanges::deleted).toList());
    SortedMap<Integer, List<IndexSet>> fields = new TreeMap<>();
    for (RecordChanges shard : shards) {
      shard.fields.forEach(
          (id, indices) -> fields.computeIfAbsent(id, key -> new ArrayList<>()).add(indices));
    }
    SortedMap<Integer, IndexSet> joined = new TreeMap<>();
    fields.forEach((id, indices) -> joined.put(id, union(indices).minus(deleted)));
    return of(union(shards.stream().map(RecordChanges::inserted).toList()), deleted, joined);
  }

  private static IndexSet union(List<IndexSet> sets) {
    int half = sets.size() / 2;
    return switch (sets.size()) {
      case 0 -> IndexSet.empty();
      case 1 -> sets.get(0);
      // Halves are joined, so that many small sets take little more than linear time.
      default -> union(sets.subList(0, half)).union(union(sets.subList(half, sets.size())));
    };
  }

  /**
   * Returns what these changes and the next ones do together. A record that was inserted and
   * deleted is none of them, and one that was inserted and got values was inserted. Linear in the
   * number of runs of neighbours.
   *
   * @param next from the version to a later version
   */
  RecordChanges followedBy(RecordChanges next) {
    Renumbering first = new Renumbering(deleted, inserted);
    Renumbering second = new Renumbering(next.deleted, next.inserted);
    IndexSet lost = first.toBefore(next.deleted.minus(inserted));
    SortedMap<Integer, IndexSet> all = new TreeMap<>();
    fields.forEach((id, indices) -> all.put(id, indices.minus(lost)));
    next.fields.forEach(
        (id, indices) -> all.merge(id, first.toBefore(indices.minus(inserted)), IndexSet::union));
    return of(
        next.inserted.union(second.toAfter(inserted.minus(next.deleted))),
        deleted.union(lost),
        all);
  }

  /** Returns these changes without those of fields for which a condition does not hold. */
  RecordChanges ofFields(IntPredicate condition) {
    SortedMap<Integer, IndexSet> kept = new TreeMap<>();
    fields.forEach((id, indices) -> {
      if (condition.test(id) && !indices.isEmpty()) {
        kept.put(id, indices);
      }
    });
    return of(inserted, deleted, kept);
  }
}
