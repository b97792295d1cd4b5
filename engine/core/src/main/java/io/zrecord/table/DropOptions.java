package io.zrecord.table;

import java.time.Duration;
import java.util.Objects;

/**
 * How a table is dropped. Immutable.
 *
 * @param mode whether the table is dropped, or only looked at
 * @param leftovers what becomes of files that no version names
 */
public record DropOptions(CareMode mode, Leftovers leftovers) {
  /** The sweep of leftovers. */
  static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  /** What becomes of the files in the table's directories that no version names. */
  public enum Leftovers {
    /** They stay, for {@link RecordTable#sweep}. */
    KEPT,
    /** Those that are older than an hour are deleted. */
    SWEPT
  }

  public DropOptions {
    Objects.requireNonNull(mode, "mode");
    Objects.requireNonNull(leftovers, "leftovers");
  }

  /** Returns the defaults: the table is dropped, and files that no version names stay. */
  public static DropOptions defaults() {
    return new DropOptions(CareMode.DELETE, Leftovers.KEPT);
  }

  public DropOptions withMode(CareMode newMode) {
    return new DropOptions(newMode, leftovers);
  }

  public DropOptions withLeftovers(Leftovers newLeftovers) {
    return new DropOptions(mode, newLeftovers);
  }
}
