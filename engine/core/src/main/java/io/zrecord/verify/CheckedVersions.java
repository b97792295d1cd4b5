package io.zrecord.verify;

import java.util.OptionalLong;

/**
 * The versions of a table whose values are checked.
 *
 * @param version the only version; empty for the newest version or for all
 * @param isAll whether all versions are checked
 */
record CheckedVersions(OptionalLong version, boolean isAll) {
  static final CheckedVersions NEWEST = new CheckedVersions(OptionalLong.empty(), false);
  static final CheckedVersions ALL = new CheckedVersions(OptionalLong.empty(), true);

  static CheckedVersions only(long version) {
    return new CheckedVersions(OptionalLong.of(version), false);
  }

  /** Tells whether the values of a version were asked for, by number or with all others. */
  boolean includes(long candidate) {
    return isAll || (version.isPresent() && candidate == version.getAsLong());
  }
}
