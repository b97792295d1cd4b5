package io.zrecord.benchmarks.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Fetches and stores objects by plain requests of the SDK that S3A uses: what zrecord is measured
 * beside. Thread-safe.
 */
final class PlainS3 implements AutoCloseable {
  private static final int MAX_CONNECTIONS = 512;

  /** Bytes of a part of an upload, as S3A has them. */
  private static final long PART_BYTES = 64 << 20;

  private static final int BUFFER_BYTES = 1 << 18;

  private final S3Client client;

  PlainS3(RemoteSite site) {
    client = S3Client.builder()
        .endpointOverride(site.endpoint())
        .region(Region.of(RemoteSite.REGION))
        .forcePathStyle(true)
        .credentialsProvider(StaticCredentialsProvider.create(
            AwsBasicCredentials.create(site.accessKey(), site.secretKey())))
        // As S3A has it: no checksums beside those of the signature.
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .httpClientBuilder(ApacheHttpClient.builder().maxConnections(MAX_CONNECTIONS))
        .build();
  }

  /** A range of an object. */
  record Range(String key, long from, long to) {}

  /** Returns the objects below a prefix, with the slash that ends the prefix. */
  List<S3Object> list(String prefix) {
    return client
        .listObjectsV2Paginator(list -> list.bucket(RemoteSite.BUCKET).prefix(prefix))
        .contents()
        .stream()
        .toList();
  }

  /** Returns the ranges that objects with a suffix consist of. */
  static List<Range> ranges(List<S3Object> objects, String suffix) {
    List<Range> ranges = new ArrayList<>();
    for (S3Object object : objects) {
      if (object.key().endsWith(suffix)) {
        for (long from = 0; from < object.size(); from += RemoteSite.RANGE_BYTES) {
          long to = Math.min(from + RemoteSite.RANGE_BYTES, object.size());
          ranges.add(new Range(object.key(), from, to));
        }
      }
    }
    return ranges;
  }

  /** Fetches ranges and forgets their bytes. */
  void get(List<Range> ranges, int connections) throws InterruptedException {
    inParallel(
        connections, ranges.stream().<Runnable>map(range -> () -> get(range)).toList());
  }

  private void get(Range range) {
    byte[] target = new byte[BUFFER_BYTES];
    long left = range.to() - range.from();
    try (ResponseInputStream<GetObjectResponse> body =
        client.getObject(get -> get.bucket(RemoteSite.BUCKET)
            .key(range.key())
            .range("bytes=" + range.from() + "-" + (range.to() - 1)))) {
      for (int read = body.read(target); read >= 0; read = body.read(target)) {
        left -= read;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (left != 0) {
      throw new IllegalStateException(range + " lacks " + left + " bytes");
    }
  }

  /** Stores files below a prefix, each in parts. */
  void put(List<Path> files, String prefix, int connections) throws InterruptedException {
    List<Runnable> work = new ArrayList<>();
    List<Runnable> ends = new ArrayList<>();
    for (Path file : files) {
      String key = prefix + file.getFileName();
      String upload = client
          .createMultipartUpload(create -> create.bucket(RemoteSite.BUCKET).key(key))
          .uploadId();
      long length = length(file);
      int count = (int) Math.max(1, Least.parts(length, PART_BYTES));
      CompletedPart[] parts = new CompletedPart[count];
      for (int i = 0; i < count; i++) {
        int part = i;
        work.add(() -> parts[part] = put(file, key, upload, part, length));
      }
      ends.add(() -> client.completeMultipartUpload(complete -> complete
          .bucket(RemoteSite.BUCKET)
          .key(key)
          .uploadId(upload)
          .multipartUpload(all -> all.parts(parts))));
    }
    inParallel(connections, work);
    inParallel(connections, ends);
  }

  private CompletedPart put(Path file, String key, String upload, int part, long length) {
    long from = part * PART_BYTES;
    long bytes = Math.min(PART_BYTES, length - from);
    RequestBody body = RequestBody.fromContentProvider(
        ContentStreamProvider.fromInputStreamSupplier(() -> open(file, from)),
        bytes,
        "application/octet-stream");
    var answer = client.uploadPart(
        put -> put.bucket(RemoteSite.BUCKET)
            .key(key)
            .uploadId(upload)
            .partNumber(part + 1)
            .contentLength(bytes),
        body);
    return CompletedPart.builder().partNumber(part + 1).eTag(answer.eTag()).build();
  }

  /** Stores a file with one request. */
  void put(Path file, String key) {
    client.putObject(put -> put.bucket(RemoteSite.BUCKET).key(key), file);
  }

  /** Deletes what is below a prefix. */
  void delete(String prefix) {
    for (S3Object object : list(prefix)) {
      client.deleteObject(delete -> delete.bucket(RemoteSite.BUCKET).key(object.key()));
    }
  }

  private static InputStream open(Path file, long from) {
    try {
      InputStream in = Files.newInputStream(file);
      in.skipNBytes(from);
      return new java.io.BufferedInputStream(in, BUFFER_BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long length(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs work on some threads and waits for its end. */
  static void inParallel(int threads, List<Runnable> work) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> all = new ArrayList<>();
      work.forEach(one -> all.add(pool.submit(one)));
      for (Future<?> one : all) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
