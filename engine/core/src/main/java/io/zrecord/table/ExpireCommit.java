package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.ManifestLog;
import java.util.UUID;

/** Commits a higher floor. Belongs to one thread. */
final class ExpireCommit extends CareCommit {
  private final String location;
  private final ManifestLog log;
  private final Manifest planned;
  private final long floor;
  private final UUID floorCommit;
  private long floorBefore;

  /**
   * Plans a commit.
   *
   * @param location the table, for messages
   * @param floor the oldest version that stays
   * @param floorCommit the commit of that version, which is old enough
   */
  ExpireCommit(String location, ManifestLog log, Manifest planned, long floor, UUID floorCommit) {
    super("expire", location, planned);
    this.location = location;
    this.log = log;
    this.planned = planned;
    this.floor = floor;
    this.floorCommit = floorCommit;
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
    boolean isPlanned = newest.commitId().equals(planned.commitId());
    if (!isPlanned && (newest.records().version() < floor || !hasFloor())) {
      throw new CommitConflictException(
          location,
          "Cannot expire the versions of " + location + " before " + floor
              + ": a repair gave version " + floor + " up meanwhile; expire again");
    }
  }

  /** Tells whether the version is still the one that was found old enough. */
  private boolean hasFloor() {
    try {
      return log.link(floor).commitId().equals(floorCommit);
    } catch (MissingFileException e) {
      return false;
    }
  }

  @Override
  Retention change(Manifest newest, long nowMillis) {
    floorBefore = newest.oldest();
    return newest.retention().withOldest(floor);
  }
}
