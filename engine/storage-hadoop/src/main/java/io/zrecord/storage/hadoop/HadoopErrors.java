package io.zrecord.storage.hadoop;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;

/** Turns failures reported by a file system of Hadoop into advice. Stateless. */
final class HadoopErrors {
  private static final Pattern EXPIRED =
      Pattern.compile("ExpiredToken|TokenRefreshRequired|RequestExpired");
  private static final Pattern INVALID =
      Pattern.compile("InvalidToken|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidClientTokenId");

  private HadoopErrors() {}

  /**
   * Returns the exception to throw for a failure.
   *
   * @param settings of the file system; the secrets among them do not appear
   * @param action what was tried, as a verb with its object, such as {@code "write to"}
   */
  static ZRecordException of(
      Configuration settings, String action, Path path, IOException failure) {
    return of(action, path, failure, reason(failure, settings), Redaction.cause(failure, settings));
  }

  private static ZRecordException of(
      String action, Path path, IOException e, String reason, Throwable cause) {
    String file = path.toString();
    String problem = "Cannot " + action + " " + file + ": ";
    if (e.getClass().getName().endsWith("UnknownStoreException")) {
      return new StorageException(
          file, problem + "there is no such bucket. Create the bucket, or check its name", cause);
    }
    if (EXPIRED.matcher(reason).find()) {
      return new FileUnavailableException(
          file,
          problem + "the credentials have expired (" + reason + "). Give Hadoop new ones, such as"
              + " fs.s3a.session.token with its keys",
          cause);
    }
    if (INVALID.matcher(reason).find()) {
      return new FileUnavailableException(
          file,
          problem + "the server does not know the credentials (" + reason + "). Check"
              + " fs.s3a.access.key, fs.s3a.secret.key and fs.s3a.session.token: they must be of one"
              + " account, and of this server",
          cause);
    }
    if (e instanceof FileNotFoundException) {
      return new MissingFileException(
          file,
          problem + "there is no such file. Restore it from a copy, or check the path",
          cause);
    }
    if (isDenial(e)) {
      return new FileUnavailableException(
          file,
          problem + "access is denied (" + reason + "). Check the credentials that Hadoop is"
              + " given, and the permissions of the file and of its directories",
          cause);
    }
    if (isQuotaExceeded(e)) {
      return new DiskFullException(
          file, problem + reason + ". Free space or raise the quota, then try again", cause);
    }
    if (e instanceof FileAlreadyExistsException) {
      return new StorageException(
          file,
          problem + "it already exists. Names are never reused; remove it or choose another",
          cause);
    }
    if (e instanceof InterruptedIOException || e instanceof ClosedByInterruptException) {
      return new FileUnavailableException(
          file,
          problem + "the thread was interrupted, or waited too long (" + reason
              + "). Nothing is known to be damaged; try again",
          cause);
    }
    return new StorageException(
        file, problem + reason + ". Check the file system, and the network to it", cause);
  }

  /** Tells whether a failure is a denial, or says that the space is used up. */
  static boolean isRefusal(IOException e) {
    return isDenial(e) || isQuotaExceeded(e);
  }

  private static boolean isDenial(IOException e) {
    return e instanceof AccessControlException || e instanceof AccessDeniedException;
  }

  private static boolean isQuotaExceeded(IOException e) {
    return e.getClass().getName().endsWith("QuotaExceededException")
        || String.valueOf(e.getMessage()).contains("No space left");
  }

  /**
   * Returns the first line of a message, without credentials: remote exceptions carry a stack in
   * theirs.
   */
  static String reason(Throwable e, Configuration settings) {
    String message = e.getMessage();
    if (message == null || message.isBlank()) {
      return e.getClass().getSimpleName();
    }
    int end = message.indexOf('\n');
    return Redaction.of(end < 0 ? message : message.substring(0, end), settings);
  }
}
