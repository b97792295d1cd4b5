package io.zrecord.errors;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** Turns failures reported by the operating system into advice. Stateless. */
public final class FileErrors {
  /** Words of the message that says that the process may not open another file. */
  public static final String TOO_MANY_OPEN = "too many open files";

  private FileErrors() {}

  /**
   * Returns the exception to throw for a failure.
   *
   * @param action what was tried, as a verb with its object, such as {@code "write to"}
   * @param path the file or directory concerned
   */
  public static ZRecordException of(String action, Path path, IOException e) {
    String file = path.toString();
    String problem = "Cannot " + action + " " + file + ": ";
    if (e instanceof NoSuchFileException) {
      return new MissingFileException(
          file, problem + "there is no such file. Restore it from a copy, or check the path", e);
    }
    if (e instanceof AccessDeniedException
        || mentions(e, "Permission denied")
        || mentions(e, "Operation not permitted")) {
      return new FileUnavailableException(
          file,
          problem + "permission denied for user '" + System.getProperty("user.name")
              + "'. Change the owner or the mode of the file and of its directories, or run as another user",
          e);
    }
    if (isDiskFull(e)) {
      return new DiskFullException(
          file,
          problem + reason(e)
              + ". Free space on this file system or raise the quota, then try again",
          e);
    }
    if (e instanceof NotDirectoryException) {
      return new StorageException(
          file, problem + "it is a file, and a dataset is a directory. Check the path", e);
    }
    if (e instanceof FileAlreadyExistsException) {
      return new StorageException(
          file,
          problem + "it already exists. Names are never reused; remove it or choose another",
          e);
    }
    if (e instanceof ClosedByInterruptException) {
      return new FileUnavailableException(
          file,
          problem + "the thread was interrupted. Nothing is known to be damaged; try again",
          e);
    }
    if (mentions(e, "Read-only file system")) {
      return new FileUnavailableException(
          file,
          problem + "the file system is mounted read-only. Remount it or choose another place",
          e);
    }
    if (mentions(e, "Too many open files")) {
      return new FileUnavailableException(
          file, problem + TOO_MANY_OPEN + ". Raise the limit (ulimit -n)", e);
    }
    if (e.getCause() instanceof OutOfMemoryError) {
      return new FileUnavailableException(
          file,
          problem
              + "the operating system refuses another mapping. Raise vm.max_map_count or the limit of address space",
          e);
    }
    return new StorageException(
        file, problem + reason(e) + ". Check the medium and the system log", e);
  }

  /** Tells whether the failure is a lack of space, on the medium or in a quota. */
  public static boolean isDiskFull(IOException e) {
    return mentions(e, "No space left on device") || mentions(e, "Disk quota exceeded");
  }

  /** Tells whether the failure's text contains {@code words}, a message of the C library. */
  public static boolean mentions(IOException e, String words) {
    String message = e.getMessage();
    return message != null && message.contains(words);
  }

  private static String reason(IOException e) {
    String reason = e instanceof FileSystemException f ? f.getReason() : e.getMessage();
    return reason == null ? e.getClass().getSimpleName() : reason;
  }
}
