package io.zrecord.spark.scan;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.io.Serializable;
import java.util.UUID;

/**
 * Names one version of a table, so that tasks can open it, or that scans can be compared.
 * Immutable.
 *
 * @param location location of the table
 * @param version number of the version
 * @param commitId id of the commit that made the version
 */
public record SnapshotId(TableLocation location, long version, UUID commitId)
    implements Serializable {
  public static SnapshotId of(TableSnapshot snapshot) {
    return new SnapshotId(
        TableLocation.of(snapshot.storage()), snapshot.version(), snapshot.commitId());
  }

  /**
   * Names the version that made the records of a version. Two versions of a table with the same
   * name have the same records and fields.
   */
  static SnapshotId ofRecords(TableSnapshot snapshot) {
    return new SnapshotId(
        TableLocation.of(snapshot.storage()),
        snapshot.recordsVersion(),
        snapshot.recordsCommitId());
  }

  /**
   * Reads the version's metadata.
   *
   * @throws VersionNotFoundException if the version does not exist any more, or another version has
   *     its number
   */
  public TableSnapshot open() {
    TableSnapshot found = RecordTable.at(location.storage()).version(version);
    if (!found.commitId().equals(commitId)) {
      throw new VersionNotFoundException(
          location.toString(),
          "Cannot read version " + version + " of " + location
              + ": the table was deleted and made anew since the query was planned; run it again");
    }
    return found;
  }
}
