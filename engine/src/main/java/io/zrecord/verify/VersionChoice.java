package io.zrecord.verify;

import java.util.OptionalLong;

/**
 * The versions of a table whose values are checked.
 *
 * @param version the only version; empty for the newest version or for all
 * @param isAll whether all versions are checked
 */
record VersionChoice(OptionalLong version, boolean isAll) {
  static final VersionChoice NEWEST = new VersionChoice(OptionalLong.empty(), false);
  static final VersionChoice ALL = new VersionChoice(OptionalLong.empty(), true);

  static VersionChoice only(long version) {
    return new VersionChoice(OptionalLong.of(version), false);
  }

  /** Tells whether the values of a version were asked for, by number or with all others. */
  boolean includes(long candidate) {
    return isAll || (version.isPresent() && candidate == version.getAsLong());
  }
}
