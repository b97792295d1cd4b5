package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** What a commit makes of the newest version. Belongs to one {@link Committer#commit}. */
interface Commit {
  /** Returns what identifies the commit in its version. */
  UUID commitId();

  /** Returns the version that the commit was planned on; empty if there was no table then. */
  OptionalLong baseVersion();

  /** Tells whether nothing is left to do on top of a version. */
  boolean isDone(Manifest newest);

  /**
   * Returns what the commit requires of the versions since its base. Empty if the newest version
   * decides alone, and if nobody tries the commit again after an unknown outcome.
   */
  Optional<SinceBase> sinceBase();

  /**
   * Requires that the commit may follow the newest version.
   *
   * @param newest empty if there is no table
   * @throws io.zrecord.errors.CommitConflictException if it may not
   */
  void requireFits(Optional<Manifest> newest);

  /** Checks the files of the commit, once, after it was found to fit. */
  default void checkFiles() {}

  /**
   * Makes the version after the last.
   *
   * @param last the newest version, or a retraction; empty if there is none
   * @param nowMillis Unix time of the committer
   * @param written takes each list of shards before its file is written
   */
  Manifest next(Optional<Manifest> last, long nowMillis, List<String> written);

  /**
   * Deletes what turned out to be of no use. Called once, when it is certain that a version of this
   * commit was published. Throws nothing.
   *
   * @param version what {@link #next} has made last
   */
  default void published(Manifest version) {}
}
