package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.List;

/** SKELETON of a table: the versions of a dataset. */
public final class RecordTable {
  public static RecordTable at(Storage storage) {
    throw new UnsupportedOperationException();
  }

  public Storage storage() {
    throw new UnsupportedOperationException();
  }

  /** Whether there is at least one version. */
  public boolean exists() {
    return false;
  }

  public TableSnapshot latest() {
    throw new UnsupportedOperationException();
  }

  public TableSnapshot version(long version) {
    throw new UnsupportedOperationException();
  }

  /** The newest version committed at or before the time. */
  public TableSnapshot asOf(Instant time) {
    throw new UnsupportedOperationException();
  }

  /** All versions present, oldest first. */
  public List<Long> versions() {
    throw new UnsupportedOperationException();
  }

  /** Publishes a change as the next version; retries on top of commits that commute. */
  public TableSnapshot commit(TableChange change) {
    throw new UnsupportedOperationException();
  }
}
