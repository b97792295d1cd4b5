package io.zrecord.cli.maintenance;

import io.zrecord.table.CareMode;
import io.zrecord.table.SweepOptions;
import java.time.Duration;
import picocli.CommandLine.Option;

/**
 * The arguments shared by all commands that sweep, wherever the sweep runs. Belongs to one thread.
 */
public final class SweepArguments {
  private static final SweepOptions DEFAULTS = SweepOptions.defaults();

  @Option(
      names = "--older-than",
      paramLabel = "AGE",
      converter = AgeConverter.class,
      description = "age below which a file stays: longer than any write takes, 1h and more (72h)")
  private Duration olderThan = DEFAULTS.olderThan();

  @Option(names = "--delete", description = "delete the files")
  private boolean isDeleting;

  /** Tells whether the files are deleted. */
  public boolean isDeleting() {
    return isDeleting;
  }

  /**
   * Returns the sweep that the arguments ask for.
   *
   * @throws IllegalArgumentException if the age is less than 1 hour
   */
  public SweepOptions options() {
    return DEFAULTS
        .withOlderThan(olderThan)
        .withMode(isDeleting ? CareMode.DELETE : CareMode.DRY_RUN);
  }
}
