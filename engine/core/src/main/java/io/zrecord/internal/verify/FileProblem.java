package io.zrecord.internal.verify;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;

/** Tells what is wrong with a file, from the exception that stopped a check. Stateless. */
public final class FileProblem {
  private FileProblem() {}

  /**
   * Returns the part of a message that says what is wrong, for a finding that names the file
   * itself.
   *
   * @throws ZRecordException the given exception, if its cause is not the content of the file
   */
  public static String of(ZRecordException e) {
    requireOfContent(e);
    String message = String.valueOf(e.getMessage());
    int at = message.indexOf(e.resource() + ": ");
    return at < 0 ? message : message.substring(at + e.resource().length() + 2);
  }

  /**
   * Requires that the content of a file, bad sectors included, caused the exception.
   *
   * @throws ZRecordException the given exception, if another attempt, another user or another
   *     release may read the file
   */
  public static void requireOfContent(ZRecordException e) {
    if (e instanceof FileUnavailableException
        || e instanceof DiskFullException
        || e instanceof UnsupportedFormatException) {
      throw e;
    }
  }
}
