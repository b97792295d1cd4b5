package io.zrecord.storage.s3;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Publishes objects under names that must not exist, by the condition {@code If-None-Match: *}.
 * Some servers ignore the condition, and would let a commit overwrite another. So a name is
 * published twice below each root before the first object is. Thread-safe.
 */
record S3Publication(S3Connection connection, S3Location location) {
  private static final String ABSENT = "*";
  private static final byte[] PROBE = {'{', '}'};

  /**
   * Publishes an object. Returns {@code false} if the name is taken, perhaps by this very request:
   * the SDK sends a request again if the answer is lost.
   */
  boolean publish(String name, byte[] content) {
    String path = location.path(name);
    requireConditions();
    try {
      put(location.key(name), content);
      return true;
    } catch (SdkException e) {
      if (isTaken(e)) {
        return false;
      }
      throw isWithoutEffect(e) ? S3Errors.of("publish", path, e) : S3Errors.unknown(path, e);
    }
  }

  private void put(String key, byte[] content) {
    connection
        .client()
        .putObject(
            request -> request.bucket(location.bucket()).key(key).ifNoneMatch(ABSENT),
            S3Writes.body(content, content.length));
  }

  private static boolean isTaken(SdkException e) {
    return e instanceof S3Exception answer && answer.statusCode() == 412;
  }

  /** Tells whether the server refused a request that was sent once, and not because of another. */
  private static boolean isWithoutEffect(SdkException e) {
    return e instanceof S3Exception answer
        && S3Errors.tries(e) == 1
        && answer.statusCode() >= 400
        && answer.statusCode() < 500
        && answer.statusCode() != 408
        && answer.statusCode() != 409;
  }

  /**
   * Finds out whether the server enforces conditions.
   *
   * @throws StorageException if the server does not
   */
  private void requireConditions() {
    if (connection.conditional().contains(location.prefixInBucket())) {
      return;
    }
    // Where an interrupted probe is an orphan that a sweep deletes.
    String name = "list/" + UUID.randomUUID() + ".probe";
    String key = location.key(name);
    try {
      // The first answer may be lost, and the SDK's next try refused: the name is taken then.
      boolean isRefused = isRefused(key);
      if (isRefused || isRefused(key)) {
        connection.conditional().add(location.prefixInBucket());
        return;
      }
    } catch (AbortedException e) {
      throw S3Errors.of("write to", location.written(), e);
    } catch (S3Exception e) {
      if (e.statusCode() == 501 || S3Errors.code(e).equals("NotImplemented")) {
        throw refused("does not know conditions of requests", e);
      }
      throw S3Errors.of("write to", location.path(name), e);
    } catch (SdkException e) {
      throw S3Errors.of("write to", location.path(name), e);
    } finally {
      deleteQuietly(key, name);
    }
    throw refused("ignores the condition of a request that a name must not exist", null);
  }

  /** Publishes the probe. Tells whether the server refuses because the name is taken. */
  private boolean isRefused(String key) {
    try {
      put(key, PROBE);
      return false;
    } catch (S3Exception e) {
      if (isTaken(e)) {
        return true;
      }
      throw e;
    }
  }

  private StorageException refused(String why, @Nullable SdkException cause) {
    return new StorageException(
        location.written(),
        "Cannot write to " + location.written() + ": the server " + why
            + " (If-None-Match), so that a commit could overwrite another. Reading works; to write,"
            + " use a server that enforces it",
        cause);
  }

  private void deleteQuietly(String key, String name) {
    try {
      new S3Names(connection.client(), location.bucket()).delete(key, location.path(name));
    } catch (ZRecordException e) {
      // A sweep deletes the probe.
    }
  }
}
