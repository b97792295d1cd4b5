package io.zrecord.storage.s3;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Error;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Lists and deletes objects of a bucket, by their keys. Thread-safe. */
record S3Names(S3Client client, String bucket) {
  /** What a request lists or deletes at most. */
  private static final int PAGE = 1_000;

  /**
   * Lists the direct entries of a directory. A directory has no time of its own: its time is 0.
   *
   * @param prefix of the directory's keys: empty, or with a slash at its end
   */
  List<StoredFile> direct(String prefix, String path) {
    List<StoredFile> found = new ArrayList<>();
    for (ListObjectsV2Response page : pages(prefix, "/", path)) {
      for (CommonPrefix directory : page.commonPrefixes()) {
        String key = directory.prefix();
        add(found, new StoredFile(key.substring(prefix.length(), key.length() - 1), true, 0, 0));
      }
      for (S3Object object : page.contents()) {
        add(found, storedFile(prefix, object));
      }
    }
    return found;
  }

  /** Lists all files below a directory, without the objects that mark directories. */
  List<StoredFile> tree(String prefix, String path) {
    List<StoredFile> found = new ArrayList<>();
    for (ListObjectsV2Response page : pages(prefix, null, path)) {
      for (S3Object object : page.contents()) {
        if (!object.key().endsWith("/")) {
          add(found, storedFile(prefix, object));
        }
      }
    }
    return found;
  }

  /** Returns the keys of at most some of the objects below a directory. */
  List<String> first(String prefix, int most, String path) {
    try {
      return client.listObjectsV2(request(prefix).maxKeys(most).build()).contents().stream()
          .map(S3Object::key)
          .toList();
    } catch (SdkException e) {
      throw S3Errors.of("list", path, e);
    }
  }

  /** Returns the keys of all objects below a directory, also of those that mark directories. */
  List<String> all(String prefix, String path) {
    List<String> keys = new ArrayList<>();
    for (ListObjectsV2Response page : pages(prefix, null, path)) {
      page.contents().forEach(object -> keys.add(object.key()));
    }
    return keys;
  }

  private static void add(List<StoredFile> found, StoredFile file) {
    // The object that marks the directory itself, as other programs write them.
    if (!file.name().isEmpty()) {
      found.add(file);
    }
  }

  private static StoredFile storedFile(String prefix, S3Object object) {
    return new StoredFile(
        object.key().substring(prefix.length()),
        false,
        object.size(),
        object.lastModified().toEpochMilli());
  }

  private ListObjectsV2Request.Builder request(String prefix) {
    return ListObjectsV2Request.builder().bucket(bucket).prefix(prefix).maxKeys(PAGE);
  }

  private List<ListObjectsV2Response> pages(
      String prefix, @Nullable String delimiter, String path) {
    try {
      return client.listObjectsV2Paginator(request(prefix).delimiter(delimiter).build()).stream()
          .toList();
    } catch (SdkException e) {
      throw S3Errors.of("list", path, e);
    }
  }

  /** Deletes one object, which need not exist. */
  void delete(String key, String path) {
    try {
      client.deleteObject(request -> request.bucket(bucket).key(key));
    } catch (SdkException e) {
      throw S3Errors.of("delete", path, e);
    }
  }

  /**
   * Deletes objects, which need not exist.
   *
   * @param path of their root, for messages
   * @throws StorageException if some were not deleted; the message names the first
   */
  void delete(List<String> keys, String path) {
    for (int from = 0; from < keys.size(); from += PAGE) {
      List<String> some = keys.subList(from, Math.min(keys.size(), from + PAGE));
      if (some.size() == 1) {
        delete(some.get(0), pathOf(some.get(0)));
      } else {
        deletePage(some, path);
      }
    }
  }

  private void deletePage(List<String> keys, String path) {
    Delete names = Delete.builder()
        .quiet(true)
        .objects(keys.stream()
            .map(key -> ObjectIdentifier.builder().key(key).build())
            .toList())
        .build();
    List<S3Error> failures;
    try {
      failures =
          client.deleteObjects(request -> request.bucket(bucket).delete(names)).errors();
    } catch (S3Exception e) {
      if (e.statusCode() != 400 && e.statusCode() != 501) {
        throw S3Errors.of("delete objects of", path, e);
      }
      // A server that does not know this request, or wants another checksum of it.
      keys.forEach(key -> delete(key, pathOf(key)));
      return;
    } catch (SdkException e) {
      throw S3Errors.of("delete objects of", path, e);
    }
    if (!failures.isEmpty()) {
      S3Error first = failures.get(0);
      throw new StorageException(
          pathOf(first.key()),
          "Cannot delete " + failures.size() + " of " + keys.size() + " objects, first "
              + pathOf(first.key()) + ": the server answers " + first.code() + ": "
              + first.message() + ". Check the policy of the bucket, then try again");
    }
  }

  private String pathOf(String key) {
    return "s3://" + bucket + "/" + key;
  }
}
