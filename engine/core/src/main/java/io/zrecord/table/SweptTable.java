package io.zrecord.table;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The table of a sweep, by a version of which another process can tell that it sees the same table:
 * a directory that is missing there, or another one, must not be taken for an empty one. Immutable.
 */
record SweptTable(long version, UUID commitId) implements Serializable {
  static SweptTable of(Manifest newest) {
    return new SweptTable(newest.version(), newest.commitId());
  }

  /**
   * Requires that a storage has the table.
   *
   * @throws StorageException if it has not, or the version was expired meanwhile
   */
  void require(Storage storage) {
    UUID found;
    try {
      found = new ManifestLog(storage).read(version).commitId();
    } catch (StorageException e) {
      throw e;
    } catch (ZRecordException e) {
      throw unseen(storage, e);
    }
    if (!found.equals(commitId)) {
      throw unseen(storage, null);
    }
  }

  private StorageException unseen(Storage storage, @Nullable ZRecordException cause) {
    return new StorageException(
        storage.location(),
        "Cannot sweep " + storage.location() + ": version " + version
            + " of the table is not there, or is another one; let every worker see the same"
            + " directory, and sweep again",
        cause);
  }
}
