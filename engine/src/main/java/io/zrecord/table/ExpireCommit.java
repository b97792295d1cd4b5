package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Retention;

/** Commits a higher floor. Belongs to one thread. */
final class ExpireCommit extends CareCommit {
  private final String location;
  private final long floor;
  private long floorBefore;

  /**
   * Plans a commit.
   *
   * @param location the table, for messages
   * @param floor the oldest version that stays
   */
  ExpireCommit(String location, Manifest planned, long floor) {
    super("expire", location, planned);
    this.location = location;
    this.floor = floor;
  }

  /** Returns the oldest version that the version before the published one kept. */
  long floorBefore() {
    return floorBefore;
  }

  @Override
  public boolean isDone(Manifest newest) {
    return newest.oldest() >= floor;
  }

  @Override
  void requireFits(Manifest newest) {
    if (newest.records().version() < floor) {
      throw new CommitConflictException(
          location,
          "Cannot expire the versions of " + location + " before " + floor
              + ": a repair went back to version " + newest.records().version()
              + " meanwhile; expire again");
    }
  }

  @Override
  Retention change(Manifest newest, long nowMillis) {
    floorBefore = newest.oldest();
    return new Retention(newest.records(), floor, newest.tags());
  }
}
