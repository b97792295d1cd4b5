package io.zrecord.storage.s3;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Turns failures reported by the SDK into advice. Stateless. */
final class S3Errors {
  private static final Pattern SDK_NOTES =
      Pattern.compile(" *\\((?:SDK (?:Attempt Count|Diagnostics)|Service: )[^)]*\\)");
  private static final Set<String> FULL =
      Set.of("QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "EntityTooLarge");

  private static final Set<String> EXPIRED =
      Set.of("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired");
  private static final Set<String> INVALID =
      Set.of("InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidClientTokenId");

  private S3Errors() {}

  /**
   * Returns the exception to throw for a failure.
   *
   * @param action what was tried, as a verb with its object, such as {@code "write to"}
   * @param path the object concerned
   */
  static ZRecordException of(String action, String path, SdkException e) {
    String problem = "Cannot " + action + " " + path + ": ";
    if (e instanceof S3Exception answer) {
      return of(problem, path, answer);
    }
    if (e instanceof AbortedException) {
      Thread.currentThread().interrupt();
      return interrupted(action, path, e);
    }
    if (String.valueOf(e.getMessage()).startsWith("Unable to load credentials")) {
      return new FileUnavailableException(
          path,
          problem + "no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or"
              + " AWS_PROFILE; for a bucket that everybody may read, use the option anonymous=true",
          e);
    }
    return new StorageException(
        path,
        problem + reason(e) + ". " + waitLonger(e) + "Check the endpoint, and the network to it",
        e);
  }

  /** Returns the exception for settings of the environment with which no client can be made. */
  static ZRecordException ofSettings(String location, SdkException e) {
    String problem = "Cannot open " + location + ": ";
    if (String.valueOf(e.getMessage()).startsWith("Unable to load region")) {
      return new StorageException(
          location,
          problem + "no region was found. Set AWS_REGION, or use the option region=eu-central-1 or"
              + " that of the bucket; for a server that is not Amazon's, use the option endpoint",
          e);
    }
    return new StorageException(
        location,
        problem + "the client of S3 cannot be made: " + reason(e)
            + ". Check the variables AWS_… of the environment, and ~/.aws/config",
        e);
  }

  private static String waitLonger(SdkException e) {
    return tries(e) == 1
        ? ""
        : "The option 'retrySeconds' (" + S3Retries.DEFAULT_SECONDS
            + " by default) says how long failures that may pass are tried again. ";
  }

  private static ZRecordException of(String problem, String path, S3Exception e) {
    String code = code(e);
    int status = e.statusCode();
    if (code.equals("NoSuchBucket")) {
      return new StorageException(
          path, problem + "there is no such bucket. Create the bucket, or check its name", e);
    }
    if (code.equals("InvalidBucketName")) {
      return new StorageException(path, problem + reason(e) + ". Check the name of the bucket", e);
    }
    if (EXPIRED.contains(code)) {
      return new FileUnavailableException(
          path,
          problem + "the credentials have expired (" + reason(e) + "). Sign in again, or set a new"
              + " AWS_SESSION_TOKEN with its keys",
          e);
    }
    if (INVALID.contains(code)) {
      return new FileUnavailableException(
          path,
          problem + "the server does not know the credentials (" + reason(e) + "). Check"
              + " AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or AWS_PROFILE:"
              + " they must be of one account, and of this server",
          e);
    }
    if (code.equals("RequestTimeTooSkewed")) {
      return new FileUnavailableException(
          path, problem + reason(e) + ". Set the clock of this machine", e);
    }
    if (status == 404) {
      return new MissingFileException(
          path, problem + "there is no such object. Restore it from a copy, or check the path", e);
    }
    if (status == 401 || status == 403) {
      return new FileUnavailableException(
          path,
          problem + "access is denied (" + reason(e) + "). Check the credentials and the policy of"
              + " the bucket; where s3:ListBucket is not allowed, an object that is missing is"
              + " answered like this, too",
          e);
    }
    if (status == 416) {
      return new TruncatedFileException(
          path, problem + "the object ends before. Restore it from a copy", e);
    }
    if (status == 412) {
      return new CorruptDataException(
          path,
          problem + "another object has that name now. Objects of a dataset are never replaced:"
              + " find out who did, and restore it from a copy",
          e);
    }
    if (status == 301 || status == 307 || code.equals("AuthorizationHeaderMalformed")) {
      return new StorageException(
          path, problem + reason(e) + ". Set AWS_REGION, or the option 'region'" + region(e), e);
    }
    if (status == 507 || FULL.contains(code)) {
      return new DiskFullException(
          path, problem + reason(e) + ". Free space or raise the quota, then try again", e);
    }
    return new StorageException(
        path,
        problem + reason(e) + ". " + waitLonger(e) + "Try again later, or see the server's log",
        e);
  }

  private static String region(S3Exception e) {
    return e.awsErrorDetails() == null || e.awsErrorDetails().sdkHttpResponse() == null
        ? ", to the one of the bucket"
        : e.awsErrorDetails()
            .sdkHttpResponse()
            .firstMatchingHeader("x-amz-bucket-region")
            .map(region -> ", to " + region)
            .orElse(", to the one of the bucket");
  }

  /** Returns the exception for a wait that ended by an interrupt. */
  static FileUnavailableException interrupted(String action, String path, Exception cause) {
    return new FileUnavailableException(
        path,
        "Cannot " + action + " " + path + ": the thread was interrupted. Nothing is known to be"
            + " damaged; try again",
        cause);
  }

  /** Returns the exception for a publication that may or may not have taken effect. */
  static CommitOutcomeUnknownException unknown(String path, SdkException cause) {
    if (cause instanceof AbortedException) {
      Thread.currentThread().interrupt();
    }
    return new CommitOutcomeUnknownException(
        path,
        "Cannot tell whether " + path + " was published: " + reason(cause)
            + ". Delete nothing; look whether the object exists when the server answers again",
        cause);
  }

  /** Returns how often a request was sent. */
  static int tries(SdkException e) {
    Integer attempts = e.numAttempts();
    return attempts == null ? 1 : attempts;
  }

  /** Returns the code of the server's answer, such as {@code SlowDown}; empty if there is none. */
  static String code(S3Exception e) {
    return e.awsErrorDetails() == null ? "" : String.valueOf(e.awsErrorDetails().errorCode());
  }

  private static String reason(SdkException e) {
    StringBuilder reason = new StringBuilder();
    if (e instanceof S3Exception answer) {
      reason.append("the server answers ").append(answer.statusCode());
      if (answer.awsErrorDetails() != null) {
        reason
            .append(' ')
            .append(code(answer))
            .append(": ")
            .append(firstLine(answer.awsErrorDetails().errorMessage()));
      }
      if (answer.requestId() != null) {
        reason.append(", request ").append(answer.requestId());
      }
    } else {
      reason.append(firstLine(e.getMessage()));
    }
    return reason
        .append(", tried ")
        .append(tries(e) == 1 ? "once" : tries(e) + " times")
        .toString();
  }

  private static String firstLine(@Nullable String message) {
    String text = SDK_NOTES.matcher(String.valueOf(message)).replaceAll("");
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }
}
