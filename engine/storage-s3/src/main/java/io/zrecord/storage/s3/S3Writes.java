package io.zrecord.storage.s3;

import io.zrecord.errors.StorageException;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Requests that write one object under a name that must not exist. Every object carries the id of
 * its write. So a refusal that is the echo of this write's own success can be told from another
 * writer's object. Thread-safe.
 */
final class S3Writes {
  private static final String WRITE_ID = "zrecord-write";
  private static final String ABSENT = "*";

  private final S3Client client;
  private final String bucket;
  private final String key;
  private final String path;
  private final String id = UUID.randomUUID().toString();

  S3Writes(S3Client client, String bucket, String key, String path) {
    this.client = client;
    this.bucket = bucket;
    this.key = key;
    this.path = path;
  }

  String path() {
    return path;
  }

  /** Writes the object with one request. */
  void put(byte[] content, int lengthBytes) {
    try {
      client.putObject(
          request ->
              request.bucket(bucket).key(key).metadata(Map.of(WRITE_ID, id)).ifNoneMatch(ABSENT),
          body(content, lengthBytes));
    } catch (SdkException e) {
      requireOwn("finish", e);
    }
  }

  /** Starts an upload in parts. Returns its id. */
  String start() {
    try {
      return client
          .createMultipartUpload(
              request -> request.bucket(bucket).key(key).metadata(Map.of(WRITE_ID, id)))
          .uploadId();
    } catch (SdkException e) {
      throw S3Errors.of("write to", path, e);
    }
  }

  /** Uploads one part, whose number begins with 1. */
  CompletedPart part(String upload, int number, byte[] content, int lengthBytes) {
    String etag = client
        .uploadPart(
            request -> request.bucket(bucket).key(key).uploadId(upload).partNumber(number),
            body(content, lengthBytes))
        .eTag();
    return CompletedPart.builder().partNumber(number).eTag(etag).build();
  }

  /** Makes the object of its parts, in their order. */
  void complete(String upload, List<CompletedPart> parts) {
    try {
      client.completeMultipartUpload(request -> request
          .bucket(bucket)
          .key(key)
          .uploadId(upload)
          .multipartUpload(all -> all.parts(parts))
          .ifNoneMatch(ABSENT));
    } catch (SdkException e) {
      requireOwn("finish", e);
    }
  }

  /** Gives an upload up. What cannot be given up now costs space until the bucket's rules do it. */
  void abort(String upload) {
    try {
      client.abortMultipartUpload(request -> request.bucket(bucket).key(key).uploadId(upload));
    } catch (SdkException e) {
      // Nothing of the upload is visible in any case.
    }
  }

  /**
   * Does nothing if the object is there and of this write: an answer was lost, and the next try met
   * the success of the one before.
   */
  private void requireOwn(String action, SdkException failure) {
    // The SDK takes the mark of an interrupted thread away.
    boolean isInterrupted = failure instanceof AbortedException;
    HeadObjectResponse found;
    try {
      found = client.headObject(request -> request.bucket(bucket).key(key));
    } catch (SdkException e) {
      isInterrupted |= e instanceof AbortedException;
      throw S3Errors.of(action, path, failure);
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (id.equals(found.metadata().get(WRITE_ID))) {
      return;
    }
    if (failure instanceof S3Exception answer && answer.statusCode() == 412) {
      throw new StorageException(
          path,
          "Cannot " + action + " " + path + ": it already exists. Names are never reused; remove it"
              + " or choose another",
          failure);
    }
    throw S3Errors.of(action, path, failure);
  }

  static RequestBody body(byte[] content, int lengthBytes) {
    return RequestBody.fromContentProvider(
        () -> new ByteArrayInputStream(content, 0, lengthBytes),
        lengthBytes,
        "application/octet-stream");
  }
}
