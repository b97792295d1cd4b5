package io.zrecord.changes;

import io.zrecord.read.IndexSet;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The records of a shard that a version inserted, deleted and changed. Takes 16 bytes for each run
 * of neighbours. Immutable.
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
    SortedMap<Integer, IndexSet> fields) {
  public RecordChanges {
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }
}
