package io.zrecord.table;

import java.time.Duration;
import java.util.Objects;

/**
 * Which versions of a table are expired: versions that meet both conditions, except the newest
 * version and versions with a tag. Immutable.
 *
 * @param keepVersions number of newest versions that are kept, 1 or more. Tags, expiries and
 *     repairs do not count, because they change no records
 * @param olderThan time since the next version was committed, 1 hour or more. The table stays
 *     readable as of any time within this duration, so choose a duration longer than any read that
 *     starts on the newest version
 * @param mode whether the versions are deleted
 */
public record ExpireOptions(int keepVersions, Duration olderThan, CareMode mode) {
  /**
   * Least age of an expired version. A commit that takes longer than half of this looks whether its
   * version was expired meanwhile.
   */
  static final Duration LEAST_AGE = Duration.ofHours(1);

  public ExpireOptions {
    if (keepVersions < 1) {
      throw new IllegalArgumentException(
          "Cannot keep " + keepVersions + " versions: the newest one always stays; keep 1 or more");
    }
    LeastAge.require("versions", olderThan, LEAST_AGE);
    Objects.requireNonNull(mode, "mode");
  }

  /** Returns the defaults: one version and 7 days are kept, and the rest is deleted. */
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
