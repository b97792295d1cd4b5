package io.zrecord.table;

import io.zrecord.internal.table.Manifest;

/** What a commit requires of its base and of the versions since. */
interface SinceBase {
  /** Tells whether the commit may follow versions that were expired before it looked at them. */
  boolean mayFollowExpired();

  /**
   * Requires that the version with the base's number is the base.
   *
   * @throws io.zrecord.errors.CommitConflictException if it is another one
   */
  void requireBase(Manifest base);

  /**
   * Requires that the commit may follow a version that came since its base.
   *
   * @throws io.zrecord.errors.CommitConflictException if it may not
   */
  void requireCommutes(Manifest winner);
}
