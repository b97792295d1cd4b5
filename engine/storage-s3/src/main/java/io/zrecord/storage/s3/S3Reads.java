package io.zrecord.storage.s3;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Reads objects of a bucket, each call with one request. Thread-safe. */
record S3Reads(S3Connection connection, String bucket) {
  /** A range that is smaller is asked for again if the answer is late. */
  private static final int HEDGED_BYTES = 512 << 10;

  /**
   * Bytes of an object.
   *
   * @param bytes what the server sent, at most what was asked for
   * @param objectBytes what the server said that there is
   * @param etag of the object; null if the server has none
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared
  record Content(byte[] bytes, long objectBytes, @Nullable String etag) {}

  /**
   * Returns a whole object.
   *
   * @throws CorruptDataException if the object is longer than {@code maxBytes}
   */
  byte[] whole(String key, String path, int maxBytes) {
    GetObjectRequest request =
        GetObjectRequest.builder().bucket(bucket).key(key).build();
    Content content;
    try {
      content =
          connection.client().getObject(request, (answer, body) -> take(answer, body, maxBytes));
    } catch (SdkException e) {
      throw S3Errors.of("read", path, e);
    }
    if (content.objectBytes() > maxBytes) {
      throw new CorruptDataException(
          path,
          "Cannot read " + path + ": it has " + content.objectBytes() + " bytes, at most "
              + maxBytes + " are allowed. Restore it from a copy");
    }
    return content.bytes();
  }

  /**
   * Returns a range of an object.
   *
   * @param lengthBytes of the range, at least 1
   * @param etag that the object must have; null if none is known
   * @throws TruncatedFileException if the object ends before the range does
   * @throws CorruptDataException if the object has another ETag
   */
  Content range(String key, String path, long position, int lengthBytes, @Nullable String etag) {
    long last = position + lengthBytes - 1;
    String action = "read bytes " + position + " to " + (last + 1) + " of";
    GetObjectRequest request = GetObjectRequest.builder()
        .bucket(bucket)
        .key(key)
        .range("bytes=" + position + "-" + last)
        .ifMatch(etag)
        .build();
    Content content = get(request, action, path, lengthBytes);
    if (content.objectBytes() > lengthBytes) {
      throw new StorageException(
          path,
          "Cannot " + action + " " + path + ": the server answers with " + content.objectBytes()
              + " bytes. It ignores ranges; use a server that does not");
    }
    if (content.bytes().length < lengthBytes) {
      throw new TruncatedFileException(
          path,
          "Cannot " + action + " " + path + ": the server answers with " + content.bytes().length
              + " bytes, so the object ends before. Restore it from a copy");
    }
    return content;
  }

  private Content get(GetObjectRequest request, String action, String path, int lengthBytes) {
    try {
      if (lengthBytes >= HEDGED_BYTES) {
        return get(request, lengthBytes);
      }
      return connection.hedge().read(() -> get(request, lengthBytes));
    } catch (SdkException e) {
      throw S3Errors.of(action, path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw S3Errors.interrupted(action, path, e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SdkException cause) {
        throw S3Errors.of(action, path, cause);
      }
      throw new IllegalStateException("Reading " + path + " failed", e.getCause());
    }
  }

  private Content get(GetObjectRequest request, int lengthBytes) {
    return connection
        .client()
        .getObject(request, (answer, body) -> take(answer, body, lengthBytes));
  }

  /**
   * Takes the body of an answer, unless it is longer than what is wanted. A connection that breaks
   * is another try.
   */
  private static Content take(GetObjectResponse answer, AbortableInputStream body, int maxBytes) {
    Long told = answer.contentLength();
    if (told != null && told > maxBytes) {
      body.abort();
      return new Content(new byte[0], told, answer.eTag());
    }
    int expected = told == null ? maxBytes : told.intValue();
    byte[] bytes = new byte[expected];
    try {
      int read = body.readNBytes(bytes, 0, expected);
      boolean isLonger = read == expected && body.read() >= 0;
      if (told != null && read < expected) {
        throw new IOException("The answer ends after " + read + " of " + told + " bytes");
      }
      byte[] taken = read == expected ? bytes : Arrays.copyOf(bytes, read);
      return new Content(taken, isLonger ? expected + 1L : read, answer.eTag());
    } catch (IOException e) {
      body.abort();
      throw RetryableException.create("Cannot read the answer: " + e.getMessage(), e);
    }
  }
}
