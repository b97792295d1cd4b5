package io.zrecord.spark.stream;

import io.zrecord.read.IndexSet;
import io.zrecord.spark.stream.StreamPosition.Place;
import io.zrecord.spark.stream.StreamPosition.VersionId;
import io.zrecord.table.TableSnapshot;

/**
 * The records of a version that a stream delivers, in the order of their indices. Immutable.
 *
 * @param place whether these are all records of the version, or those that it added
 * @param version the version
 * @param indices their indices in the version
 */
record VersionRecords(Place place, TableSnapshot version, IndexSet indices) {
  /** Returns all records of a version. */
  static VersionRecords all(TableSnapshot version) {
    return new VersionRecords(Place.ALL, version, IndexSet.range(0, version.length()));
  }

  long count() {
    return indices.count();
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
