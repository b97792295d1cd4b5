package io.zrecord.storage.s3;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A storage in a bucket of S3, or of a server that speaks its protocol. Regions are read into
 * memory. Files are published by the condition {@code If-None-Match: *}; a server that does not
 * enforce the condition is read only. Directories are what keys have in common: there is none
 * without a file. Thread-safe.
 */
public final class S3Storage implements Storage {
  private final S3Location location;
  private final S3Client client;
  private final S3Reads reads;
  private final S3Names names;
  private final S3Publication publication;

  private record Identity(String location, S3Client client) {}

  S3Storage(S3Location location, S3Connection connection) {
    this.location = location;
    client = connection.client();
    reads = new S3Reads(connection, location.bucket());
    names = new S3Names(client, location.bucket());
    publication = new S3Publication(connection, location);
  }

  /**
   * Returns a storage that uses a client of the caller, who closes the client after the last use of
   * the storage. For settings that {@link S3StorageProvider} has no options for.
   *
   * @param location such as {@code s3://bucket/train}, not encoded
   * @throws IllegalArgumentException if the location has no bucket, or credentials in it
   */
  public static Storage at(String location, S3Client client) {
    return new S3Storage(S3Location.parse(location), S3Connection.of(client));
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public String location() {
    return location.written();
  }

  @Override
  public Object identity() {
    return new Identity(location.written(), client);
  }

  @Override
  public boolean exists(String name) {
    String prefix = location.directoryPrefix(name);
    return (!name.isEmpty() && head("look at", name).isPresent())
        || !names.first(prefix, 1, pathOf(name)).isEmpty();
  }

  /** Asks for an object's length and ETag. Returns nothing if there is no such object. */
  private Optional<HeadObjectResponse> head(String action, String name) {
    String key = location.key(name);
    try {
      return Optional.of(
          client.headObject(request -> request.bucket(location.bucket()).key(key)));
    } catch (S3Exception e) {
      if (e.statusCode() == 404) {
        return Optional.empty();
      }
      throw S3Errors.of(action, pathOf(name), e);
    } catch (SdkException e) {
      throw S3Errors.of(action, pathOf(name), e);
    }
  }

  @Override
  public long lengthBytes(String name) {
    return file(name).contentLength();
  }

  private HeadObjectResponse file(String name) {
    return head("open", name).orElseThrow(() -> {
      boolean isDirectory =
          !names.first(location.directoryPrefix(name), 1, pathOf(name)).isEmpty();
      return new MissingFileException(
          pathOf(name),
          "Cannot open " + pathOf(name) + ": "
              + (isDirectory
                  ? "it is a directory, not a file. Restore the file from a copy"
                  : "there is no such object. Restore it from a copy, or check the path"));
    });
  }

  @Override
  public Optional<StoredFile> find(String name) {
    return head("look at", name)
        .map(file -> new StoredFile(
            name.substring(name.lastIndexOf('/') + 1),
            false,
            file.contentLength(),
            file.lastModified().toEpochMilli()));
  }

  @Override
  public List<StoredFile> list(String directory) {
    return names.direct(location.directoryPrefix(directory), pathOf(directory));
  }

  @Override
  public List<StoredFile> listTree(String directory) {
    return names.tree(location.directoryPrefix(directory), pathOf(directory));
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return reads.whole(location.key(name), pathOf(name), maxBytes);
  }

  @Override
  public ReadableFile open(String name) {
    HeadObjectResponse file = file(name);
    return new S3ReadableFile(
        reads, location.key(name), pathOf(name), file.contentLength(), file.eTag());
  }

  @Override
  public ReadableFile open(String name, long lengthBytes) {
    return new S3ReadableFile(reads, location.key(name), pathOf(name), lengthBytes, null);
  }

  /** Creates an object. A name that is taken is refused when the object is finished. */
  @Override
  public WritableFile create(String name) {
    String key = location.key(name);
    return new S3WritableFile(new S3Writes(client, location.bucket(), key, pathOf(name)));
  }

  @Override
  public boolean publish(String name, byte[] content) {
    location.key(name);
    return publication.publish(name, content);
  }

  @Override
  public void replace(String name, byte[] content) {
    String key = location.key(name);
    try {
      client.putObject(
          request -> request.bucket(location.bucket()).key(key),
          S3Writes.body(content, content.length));
    } catch (SdkException e) {
      throw S3Errors.of("replace", pathOf(name), e);
    }
  }

  /** Does nothing: a name is durable once its file is finished. */
  @Override
  public void forceDirectory(String directory) {
    location.directoryPrefix(directory);
  }

  @Override
  public boolean deleteIfEmpty(String directory) {
    String prefix = location.directoryPrefix(directory);
    try {
      List<String> keys = names.first(prefix, 2, pathOf(directory));
      if (keys.isEmpty()) {
        return true;
      }
      if (keys.size() > 1 || !keys.get(0).equals(prefix)) {
        return false;
      }
      // The object by which other programs mark a directory.
      names.delete(prefix, pathOf(directory));
      return true;
    } catch (ZRecordException e) {
      return false;
    }
  }

  @Override
  public void delete(String name) {
    String key = location.key(name);
    List<String> keys = new ArrayList<>(List.of(key));
    keys.addAll(names.all(location.directoryPrefix(name), pathOf(name)));
    names.delete(keys, location());
  }

  @Override
  public void deleteAll(List<String> names) {
    this.names.delete(names.stream().map(location::key).toList(), location());
  }

  @Override
  public String pathOf(String name) {
    return location.path(name);
  }
}
