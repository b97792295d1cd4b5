package io.zrecord.verify;

import java.util.OptionalLong;

/**
 * The versions of a table whose values are checked.
 *
 * @param version the only one; empty: the newest one, or all
 * @param isAll whether all are
 */
record VersionChoice(OptionalLong version, boolean isAll) {
  static final VersionChoice NEWEST = new VersionChoice(OptionalLong.empty(), false);
  static final VersionChoice ALL = new VersionChoice(OptionalLong.empty(), true);

  static VersionChoice only(long version) {
    return new VersionChoice(OptionalLong.of(version), false);
  }

  /** Whether a version was asked for by its number, or all were. */
  boolean includes(long candidate) {
    return isAll || (version.isPresent() && candidate == version.getAsLong());
  }
}
