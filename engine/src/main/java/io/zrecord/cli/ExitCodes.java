package io.zrecord.cli;

/** What the exit code of every command means. */
public final class ExitCodes {
  /** Done; a check found nothing. */
  public static final int DONE = 0;
  /** Data are damaged. */
  public static final int DAMAGED = 1;
  /** The command was called wrongly, or there is no such dataset, version, field or record. */
  public static final int USAGE = 2;
  /** Everything else: the disk is full, another has the store open, a repair was not approved. */
  public static final int FAILED = 3;

  private ExitCodes() {}
}
