package io.zrecord.table;

import java.time.Duration;

/**
 * Which versions of a table are expired: those that fulfil both conditions, but never the newest nor one that has a tag. Immutable.
 *
 * @param keepVersions the newest that are kept, 1 and more
 * @param olderThan how long ago a newer version came, 1 hour and more: the table can still be read as of any time since, so this should be
 *     longer than anybody reads what was the newest version when he began
 * @param mode whether they are deleted
 */
public record ExpireOptions(int keepVersions, Duration olderThan, CareMode mode) {
  /** A commit that takes longer than half of this does not succeed, so that its version cannot be one that was expired. */
  static final Duration LEAST_AGE = Duration.ofHours(1);

  public ExpireOptions {
    if (keepVersions < 1) {
      throw new IllegalArgumentException(
          "Cannot keep " + keepVersions + " versions: the newest one always stays; keep 1 or more");
    }
    LeastAge.require("versions", olderThan, LEAST_AGE);
  }

  /** One version, 7 days, and they are deleted. */
  public static ExpireOptions defaults() {
    return new ExpireOptions(1, Duration.ofDays(7), CareMode.DELETE);
  }

  public ExpireOptions withKeepVersions(int newKeepVersions) {
    return new ExpireOptions(newKeepVersions, olderThan, mode);
  }

  public ExpireOptions withOlderThan(Duration newOlderThan) {
    return new ExpireOptions(keepVersions, newOlderThan, mode);
  }

  public ExpireOptions withMode(CareMode newMode) {
    return new ExpireOptions(keepVersions, olderThan, newMode);
  }
}
