package io.zrecord.table;

import java.time.Duration;
import java.util.Objects;

/**
 * Which orphans are swept. Immutable.
 *
 * @param olderThan time since the last change of a file and of its directory, 1 hour or more;
 *     choose a duration longer than any write takes from its first file to its commit
 * @param mode whether orphans are deleted
 */
public record SweepOptions(Duration olderThan, CareMode mode) {
  private static final Duration LEAST_AGE = Duration.ofHours(1);

  public SweepOptions {
    LeastAge.require("files", olderThan, LEAST_AGE);
    Objects.requireNonNull(mode, "mode");
  }

  /** Returns the defaults: 72 hours, and nothing is deleted. */
  public static SweepOptions defaults() {
    return new SweepOptions(Duration.ofDays(3), CareMode.DRY_RUN);
  }

  public SweepOptions withOlderThan(Duration newOlderThan) {
    return new SweepOptions(newOlderThan, mode);
  }

  public SweepOptions withMode(CareMode newMode) {
    return new SweepOptions(olderThan, newMode);
  }
}
