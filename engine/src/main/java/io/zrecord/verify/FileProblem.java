package io.zrecord.verify;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;

/** Tells what is wrong with a file from what keeps this check from reading it. Stateless. */
final class FileProblem {
  private FileProblem() {}

  /**
   * The part of a message that says what is wrong, for a finding that names the file itself.
   *
   * @throws ZRecordException this one, if it is not about the content of the file
   */
  static String of(ZRecordException e) {
    requireOfContent(e);
    String message = String.valueOf(e.getMessage());
    int at = message.indexOf(e.resource() + ": ");
    return at < 0 ? message : message.substring(at + e.resource().length() + 2);
  }

  /**
   * Passes what the content of a file is to blame for, bad sectors included.
   *
   * @throws ZRecordException this one, if another attempt, another user or another release may read the file
   */
  static void requireOfContent(ZRecordException e) {
    if (e instanceof FileUnavailableException
        || e instanceof DiskFullException
        || e instanceof UnsupportedFormatException) {
      throw e;
    }
  }
}
