package io.zrecord.cli.console;

/** The meaning of every command's exit code. */
public final class ExitCodes {
  /** Done. A check found nothing. */
  public static final int DONE = 0;
  /** Data are damaged. */
  public static final int DAMAGED = 1;
  /** The command was called wrongly, or there is no such dataset, version, field or record. */
  public static final int USAGE = 2;
  /**
   * Everything else, such as a full disk, another writer on the store, or a repair that was not
   * approved.
   */
  public static final int FAILED = 3;

  private ExitCodes() {}
}
