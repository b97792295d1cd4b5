package io.zrecord.spark.stream;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.spark.stream.StreamPosition.Place;
import io.zrecord.spark.stream.StreamPosition.VersionId;
import io.zrecord.table.TableSnapshot;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a stream delivers of a version: records in the order of their indices, or all that the
 * version changed, which is one unit that no batch divides. Immutable.
 *
 * @param place whether these are all records of the version, or those that it added
 * @param version the version
 * @param indices their indices in the version
 * @param changes what the version changed; null if the stream delivers records
 */
record VersionRecords(
    Place place,
    TableSnapshot version,
    IndexSet indices,
    @Nullable VersionChanges changes) {
  /** Returns records of a version. */
  static VersionRecords of(Place place, TableSnapshot version, IndexSet indices) {
    return new VersionRecords(place, version, indices, null);
  }

  /** Returns all records of a version. */
  static VersionRecords all(TableSnapshot version) {
    return of(Place.ALL, version, IndexSet.range(0, version.length()));
  }

  /** Returns what a version changed. */
  static VersionRecords changed(TableSnapshot version, VersionChanges changes) {
    return new VersionRecords(Place.ADDED, version, IndexSet.empty(), changes);
  }

  /** Returns the number of records, or 1 for all that the version changed. */
  long count() {
    return changes == null ? indices.count() : 1;
  }

  /**
   * Counts the rows that tell what the version changed. Reads which records of its shards changed.
   */
  long changedRows() {
    long rows = 0;
    for (RecordChanges records : Objects.requireNonNull(changes).read(version.storage())) {
      rows += records.inserted().count() + records.deleted().count();
      rows += records.changedBefore().count() + records.changedAfter().count();
    }
    return rows;
  }

  /** Returns the records from one position to another. */
  IndexSet between(long from, long to) {
    return indices.slice(from, to - from);
  }

  VersionId id() {
    return new VersionId(version.tableId(), version.version(), version.commitId());
  }

  /** Returns the position after some of the records; there is one text for the last of them. */
  StreamPosition position(long records) {
    return records == count()
        ? StreamPosition.after(id())
        : StreamPosition.within(place, id(), records);
  }
}
